import { type Heartbeat, isLive } from '../live-workers.ts';
import type { BreakerState, Outage } from './breaker.ts';
import type { AuthorityState, Pause } from './state.ts';

const MOST_OUTAGES = 5;

/** Whether live invoices go to the authority, for operators. All times are UTC. */
export interface AuthorityStatus {
  readonly breaker: BreakerState['phase'];
  /** Since when the breaker is in this phase; null: it was never open. */
  readonly since: Date | null;
  /** Number of outages so far. */
  readonly outages: number;
  /** The oldest first. */
  readonly latestOutages: readonly Outage[];
  readonly nextProbe: Date | null;
  readonly pause: Pause | null;
  /** The authority takes nothing before this time. */
  readonly notBefore: Date | null;
  /** Number of workers with a recent heartbeat, and of the invoices that they are transmitting. */
  readonly workers: number;
  readonly inFlight: number;
}

export function statusOf(
  { breaker, pause, notBefore }: AuthorityState,
  workers: readonly Heartbeat[],
  now: Date,
): AuthorityStatus {
  const { phase, outages, opened, probe } = breaker;
  const live = workers.flatMap(({ at, inFlight }) => (inFlight !== undefined && isLive({ at }, now) ? [inFlight] : []));
  return {
    breaker: phase,
    since: phase === 'closed' ? (outages.at(-1)?.until ?? null) : (outages.at(-1)?.since ?? null),
    outages: opened,
    latestOutages: outages.slice(-MOST_OUTAGES),
    nextProbe: phase === 'open' ? (probe?.dueAt ?? null) : null,
    pause,
    notBefore: notBefore && notBefore > now ? notBefore : null,
    workers: live.length,
    inFlight: live.reduce((sum, inFlight) => sum + inFlight, 0),
  };
}
