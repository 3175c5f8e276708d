import { connect, type Socket } from 'node:net';

// Runs the clients of one side of `streams` in their own process, because a process can only have about 20,000 open
// files.

export type StreamsClientsMessage =
  | { opened: number }
  /**
   * When each client received the event, in nanoseconds of the machine's monotonic clock, and the bytes that the first
   * client received.
   */
  | { arrivals: string[]; text: string };

/** Number of streams that are opened concurrently. */
const AT_A_TIME = 100;
const MESSAGE = /event: next\ndata: [^\n]*\n\n/;

const tell = (message: StreamsClientsMessage) => process.send?.(message);
const sockets: Socket[] = [];
let arrivals: string[] = [];
let text = '';

process.on('message', async ({ port, requests, count }: { port: number; requests: string[]; count: number }) => {
  const openers = Array.from({ length: AT_A_TIME }, async () => {
    while (sockets.length < count) await open(port, requests[sockets.length % requests.length] ?? '', count);
  });
  await Promise.all(openers);
  tell({ opened: sockets.length });
});
process.once('disconnect', () => {
  for (const socket of sockets) socket.destroy();
  process.exit(0);
});

/** All sockets read into one buffer, because a process of clients is not what is measured. */
const buffer = Buffer.alloc(65_536);

/** Resolves when the stream has started. */
function open(port: number, request: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    let begun = false;
    const isFirst = sockets.length === 0;
    function take(length: number): boolean {
      received += buffer.toString('latin1', 0, length);
      if (!begun) {
        if (!received.includes(':\n\n')) return true;
        begun = true;
        received = '';
        resolve();
        return true;
      }
      const message = MESSAGE.exec(received)?.[0];
      // Heartbeats are not kept.
      if (message === undefined && !received.includes('event')) received = '';
      if (message === undefined) return true;
      received = '';
      arrivals.push(String(process.hrtime.bigint()));
      if (isFirst) text = message;
      if (arrivals.length === count) {
        tell({ arrivals, text });
        arrivals = [];
      }
      return true;
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback: take } });
    sockets.push(socket);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`a stream ended: ${received.slice(0, 500)}`)));
    socket.write(request);
  });
}
