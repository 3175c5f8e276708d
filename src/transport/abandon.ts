import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes a connection immediately. If the client has not read everything that was sent, the connection is reset: an
 * orderly close would wait for the client to read it, possibly for ever.
 */
export function abandon(socket: Socket): void {
  if (socket.writableLength > 0) socket.resetAndDestroy();
  else socket.destroy();
}

/** Closes the connection of an answer immediately, as {@link abandon} does. */
export function abandonAnswer(res: ServerResponse): void {
  if (res.socket) abandon(res.socket);
  else res.destroy();
}
