import type { ServerResponse } from 'node:http';

/** Acts once when the client is gone or the answer is complete: at once when that was before this call, which no event tells any more. */
export function whenGone(res: ServerResponse, act: () => void): void {
  if (res.closed || res.destroyed) act();
  else res.once('close', act);
}
