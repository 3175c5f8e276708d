import type { ServerResponse } from 'node:http';
import { abandonAnswer } from './abandon.ts';
import { whenGone } from './when-gone.ts';

/** The minimum speed at which a client must read an answer. */
export interface LeastSpeed {
  readonly bytes: number;
  /** The time in which the client must read `bytes`, milliseconds. */
  readonly withinMs: number;
}

/**
 * Number of checks in {@link LeastSpeed.withinMs}. Only an answer that waits for its client at each of them can be too
 * slow.
 */
const LOOKS = 4;

/**
 * Ends an answer whose client reads it more slowly than this. Time in which the service has nothing to send does not
 * count, nor time in which the client reads everything that is sent. The time limit of connections does not ensure
 * this, because any byte satisfies it.
 */
export function requireSpeed(res: ServerResponse, { bytes, withinMs }: LeastSpeed): void {
  /** The bytes sent by the time of each of the latest checks, at all of which the answer waited for its client. */
  const sent: number[] = [];
  const timer = setInterval(() => {
    const { socket } = res;
    // Without a socket, the answer waits for earlier answers of the connection, which the client does not read.
    if (socket !== null && !res.writableNeedDrain) return void sent.splice(0);
    sent.push(socket === null ? 0 : socket.bytesWritten - socket.writableLength);
    if (sent.length <= LOOKS) return;
    if ((sent.at(-1) ?? 0) - (sent.shift() ?? 0) < bytes) abandonAnswer(res);
  }, withinMs / LOOKS).unref();
  // Koa and a streamed answer already have as many listeners as Node allows before it warns of a leak.
  res.setMaxListeners(res.getMaxListeners() + 1);
  whenGone(res, () => clearInterval(timer));
}
