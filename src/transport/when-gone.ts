import type { ServerResponse } from 'node:http';

/** Whether the client has disconnected or the answer is complete. */
export function isGone(res: ServerResponse): boolean {
  return res.closed || res.destroyed;
}

/**
 * Calls `act` once when the client disconnects or the answer is complete, or immediately if that has already happened.
 */
export function whenGone(res: ServerResponse, act: () => void): void {
  if (isGone(res)) act();
  else res.once('close', act);
}
