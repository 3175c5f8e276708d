import type { Socket } from 'node:net';

/**
 * Closes a connection at once. If the client has not read all sent data, the connection is reset, because an orderly
 * close would wait until it does, possibly for ever.
 */
export function abandon(socket: Socket): void {
  if (socket.writableLength > 0) socket.resetAndDestroy();
  else socket.destroy();
}
