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

process.on('message', async ({ port, request, count }: { port: number; request: string; count: number }) => {
  const openers = Array.from({ length: AT_A_TIME }, async () => {
    while (sockets.length < count) await open(port, request, count);
  });
  await Promise.all(openers);
  tell({ opened: sockets.length });
});
process.once('disconnect', () => {
  for (const socket of sockets) socket.destroy();
  process.exit(0);
});

/** Resolves when the stream has started. */
function open(port: number, request: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const isFirst = sockets.push(socket) === 1;
    let received = '';
    let begun = false;
    socket.setEncoding('latin1');
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`a stream ended: ${received.slice(0, 500)}`)));
    socket.write(request);
    socket.on('data', (chunk: string) => {
      received += chunk;
      if (!begun && received.includes(':\n\n')) {
        begun = true;
        received = '';
        return resolve();
      }
      const message = MESSAGE.exec(received)?.[0];
      if (message === undefined) return;
      received = '';
      arrivals.push(String(process.hrtime.bigint()));
      if (isFirst) text = message;
      if (arrivals.length < count) return;
      tell({ arrivals, text });
      arrivals = [];
    });
  });
}
