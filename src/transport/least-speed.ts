import type { ServerResponse } from 'node:http';
import { abandonAnswer } from './abandon.ts';
import { whenGone } from './when-gone.ts';

/** How fast a client must read an answer. */
export interface LeastSpeed {
  readonly bytes: number;
  /** In which it reads so many bytes, milliseconds. */
  readonly withinMs: number;
}

/** Number of times in {@link LeastSpeed.withinMs} at which the answer must wait for its client. */
const LOOKS = 4;

/**
 * Ends an answer whose client reads it more slowly. Time in which the service has nothing to send does not count, nor
 * does a client that takes all that there is. The time limit of connections does not do that: any byte satisfies it.
 */
export function requireSpeed(res: ServerResponse, { bytes, withinMs }: LeastSpeed): void {
  /** Bytes that had been sent at the latest looks, since the answer has waited for its client at each. */
  const sent: number[] = [];
  const timer = setInterval(() => {
    const { socket } = res;
    // Without a socket, earlier answers of the connection are not read.
    if (socket !== null && !res.writableNeedDrain) return void sent.splice(0);
    sent.push(socket === null ? 0 : socket.bytesWritten - socket.writableLength);
    if (sent.length <= LOOKS) return;
    if ((sent.at(-1) ?? 0) - (sent.shift() ?? 0) < bytes) abandonAnswer(res);
  }, withinMs / LOOKS).unref();
  // Koa and the parts of an answer that is streamed have as many listeners as Node takes for a leak.
  res.setMaxListeners(res.getMaxListeners() + 1);
  whenGone(res, () => clearInterval(timer));
}
