import type { Socket } from 'node:net';

/**
 * Closes a connection at once. If the client has not read everything that was sent, the connection is reset: an orderly
 * close would wait for the client to read it, possibly for ever.
 */
export function abandon(socket: Socket): void {
  if (socket.writableLength > 0) socket.resetAndDestroy();
  else socket.destroy();
}
