import { connect, createServer, type Socket } from 'node:net';

/** A proxy between a client and a service whose connections a test can break. */
export interface BreakingProxy {
  readonly url: string;
  /** Breaks all present connections. */
  break(): void;
  /** Stops forwarding on the present connections, which stay open, as an idle NAT does. */
  silence(): void;
  close(): Promise<void>;
}

export async function startBreakingProxy(target: string): Promise<BreakingProxy> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((downstream) => {
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [downstream, upstream],
      [upstream, downstream],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    break: breakAll,
    silence() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async close() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
