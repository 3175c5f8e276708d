import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A port of 127.0.0.1 that refuses connections. */
export interface SilentPort {
  readonly port: number;
  release(): void;
}

/**
 * Reserves a port on which nothing listens, by using it as the local end of a connection. (A port that was merely
 * closed could be assigned to another process.)
 */
export async function holdSilentPort(): Promise<SilentPort> {
  const server = createServer((socket) => socket.on('error', () => undefined).resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const holder = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(holder, 'connect');
  return {
    port: holder.localPort as number,
    release() {
      holder.destroy();
      server.close();
    },
  };
}
