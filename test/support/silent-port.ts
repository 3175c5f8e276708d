import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A port of 127.0.0.1 that refuses connections. */
export interface SilentPort {
  readonly port: number;
  release(): void;
}

/**
 * Holds a port that nobody listens on, and that nobody can get meanwhile: the near end of a connection. (One that was listened on and
 * given back is soon another process's.)
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
