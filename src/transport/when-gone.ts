import type { ServerResponse } from 'node:http';

/** Calls `act` once when the client disconnects or the answer is complete, or at once if that has already happened. */
export function whenGone(res: ServerResponse, act: () => void): void {
  if (res.closed || res.destroyed) act();
  else res.once('close', act);
}
