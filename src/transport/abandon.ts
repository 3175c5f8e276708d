import type { Socket } from 'node:net';

/**
 * Gives a client up. One that has not read what was sent is reset: closed in order, its connection would stay until it has read, which may be
 * never.
 */
export function abandon(socket: Socket): void {
  if (socket.writableLength > 0) socket.resetAndDestroy();
  else socket.destroy();
}
