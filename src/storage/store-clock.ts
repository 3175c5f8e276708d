import type { MongoClient, ServerHeartbeatSucceededEvent } from 'mongodb';
import { CLOCK_SKEW_MS } from '../domain/durations.ts';

/**
 * The time that all processes of a store use for leases, turns, windows and due times: this machine's time if it agrees
 * with the store's, otherwise the store's.
 */
export type StoreClock = () => Date;

/**
 * Minimum difference of the clocks that counts, milliseconds. A smaller one may come from the network or a busy
 * process; this machine's time is then used.
 */
const LEAST_MS = CLOCK_SKEW_MS / 2;
/** Number of the store's latest replies that are considered; the quickest of them counts. */
const ANSWERS = 3;

/** For each store whose clock is watched, how far that clock is ahead of this machine's, milliseconds. */
const watched = new WeakMap<MongoClient, () => number>();

export function storeClock(client: MongoClient): StoreClock {
  return () => new Date(Date.now() + storeAheadMs(client));
}

/**
 * Returns by how many milliseconds the time of {@link storeClock} is ahead of this machine's. Always 0 for a store
 * whose clock is not watched because it runs on this machine, like the embedded engine.
 */
export function storeAheadMs(client: MongoClient): number {
  return watched.get(client)?.() ?? 0;
}

/**
 * Watches the clock of a server by the time that it sends the driver every ten seconds. So a wrong clock of this
 * machine, or one that is being set, neither ends the leases of other processes nor delays due work. Costs no command.
 * @param client not connected yet, so that the first reply counts
 */
export function watchStoreClock(client: MongoClient): void {
  /**
   * How far the server's time was ahead of this process's monotonic clock. A reply that was read late makes the value
   * smaller.
   */
  const answers: number[] = [];
  client.on('serverHeartbeatSucceeded', ({ reply, duration, awaited }: ServerHeartbeatSucceededEvent) => {
    if (!(reply.localTime instanceof Date) || reply.isWritablePrimary === false) return;
    // The server sends an awaited reply at the end of the measured duration. Any other reply is assumed to be made
    // halfway.
    const answeredAt = performance.now() - (awaited ? 0 : duration / 2);
    answers.push(reply.localTime.getTime() - answeredAt);
    if (answers.length > ANSWERS) answers.shift();
  });
  watched.set(client, () => {
    const [latest] = answers.slice(-1);
    if (latest === undefined) return 0;
    // Ignores replies from before the server's clock was set or another server took over.
    const beyond = Math.max(...answers.filter((each) => Math.abs(each - latest) < LEAST_MS));
    const aheadMs = Math.round(performance.now() + beyond - Date.now());
    return Math.abs(aheadMs) < LEAST_MS ? 0 : aheadMs;
  });
}
