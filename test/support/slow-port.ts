import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A port of 127.0.0.1 that does not answer connections until it is released. */
export interface SlowPort {
  readonly port: number;
  /** Accepts connections from now on, and answers each request with an empty 200. */
  release(): void;
  close(): Promise<void>;
}

/** A program that listens with a queue of one, and does not accept the queued connection. */
const LISTENER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:http').createServer((_request, response) => response.end());
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(workerData, 0, 0));
  });
`;

/**
 * Behaves like a distant host that answers slowly: its queue of connections is full, so the kernel drops the first
 * packet of another connection. The client's kernel sends that packet again after 1 s.
 */
export async function holdSlowPort(): Promise<SlowPort> {
  const released = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(LISTENER, { eval: true, workerData: released });
  const [port] = (await once(worker, 'message')) as [number];
  const fillers: Socket[] = [];
  for (let i = 0; i < 4; i++) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(filler);
    await Promise.race([once(filler, 'connect'), new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  return {
    port,
    release() {
      for (const filler of fillers) filler.destroy();
      Atomics.store(released, 0, 1);
      Atomics.notify(released, 0);
    },
    async close() {
      await worker.terminate();
    },
  };
}
