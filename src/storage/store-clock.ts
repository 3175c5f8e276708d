import type { MongoClient, ServerHeartbeatSucceededEvent } from 'mongodb';
import { CLOCK_SKEW_MS } from '../domain/durations.ts';

/**
 * The time by which the processes of a store agree about leases, turns, windows and what is due: this machine's where it
 * agrees with the store's, otherwise the store's.
 */
export type StoreClock = () => Date;

/** A smaller difference may be of the network, or of a process that was busy: this machine's time is used, milliseconds. */
const LEAST_MS = CLOCK_SKEW_MS / 2;
/** The number of the store's latest answers of which the quickest one counts. */
const ANSWERS = 3;

/** How far the clocks are ahead of this machine's, milliseconds, of the stores whose clock is watched. */
const watched = new WeakMap<MongoClient, () => number>();

export function storeClock(client: MongoClient): StoreClock {
  return () => new Date(Date.now() + storeAheadMs(client));
}

/**
 * How far the time of {@link storeClock} is ahead of this machine's, milliseconds. Always 0 for a store whose clock is not
 * watched because it runs on this machine, like the embedded engine.
 */
export function storeAheadMs(client: MongoClient): number {
  return watched.get(client)?.() ?? 0;
}

/**
 * Watches the clock of a server by what it tells the driver every ten seconds, so that a wrong clock of this machine, or
 * one that is set, neither ends the leases of other processes nor holds up what is due. Costs no command.
 * @param client not connected yet, so that the first answer counts
 */
export function watchStoreClock(client: MongoClient): void {
  /** How far the server's time was ahead of this process's monotonic clock. An answer that was read late makes it less. */
  const answers: number[] = [];
  client.on('serverHeartbeatSucceeded', ({ reply, duration, awaited }: ServerHeartbeatSucceededEvent) => {
    if (!(reply.localTime instanceof Date) || reply.isWritablePrimary === false) return;
    // An awaited answer comes at the end of its time, any other one is taken to be made in the middle.
    const answeredAt = performance.now() - (awaited ? 0 : duration / 2);
    answers.push(reply.localTime.getTime() - answeredAt);
    if (answers.length > ANSWERS) answers.shift();
  });
  watched.set(client, () => {
    const [latest] = answers.slice(-1);
    if (latest === undefined) return 0;
    // After the server's clock was set, or another server took over, earlier answers do not count.
    const beyond = Math.max(...answers.filter((each) => Math.abs(each - latest) < LEAST_MS));
    const aheadMs = Math.round(performance.now() + beyond - Date.now());
    return Math.abs(aheadMs) < LEAST_MS ? 0 : aheadMs;
  });
}
