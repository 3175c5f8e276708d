import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import { ALL_PARTITIONS, type PartitionRange, rangeOf } from '../domain/invoice/lanes.ts';
import { every } from '../domain/kit/every.ts';
import { watchWorkers } from '../domain/live-workers.ts';

const HEARTBEAT_MS = 1000;
/** Pause between two heartbeats of the only worker of a store, on which no other worker depends, milliseconds. */
const ALONE_HEARTBEAT_MS = 5000;
/**
 * How long a worker keeps a range after its last heartbeat, milliseconds. Longer than a lease, so that leases end
 * first. The worker keeps its share of the authority's limits longer (`LIVE_MS`), because its transmissions may still
 * be in progress.
 */
const RANGE_MS = 5000;

/** The partitions in which this worker searches for due invoices. */
export interface ClaimRanges {
  /**
   * Returns the range of this worker. After a worker has come or gone, ranges overlap or leave a gap until every worker
   * has noticed. Work in a gap becomes late, and {@link createClaimer} claims late work of all partitions.
   */
  own(): PartitionRange;
  /** Number of live workers, including this one, which share the authority's limits. */
  workers(): number;
  /** @param inFlight number of invoices that this process is transmitting; null if it never transmits */
  start(inFlight?: (() => number) | null): Promise<void>;
  /** Ends this worker's part, so that the other workers divide its range. */
  stop(): Promise<void>;
}

/**
 * Divides the partitions evenly among the live workers, by their heartbeats.
 * @param worker the id of this worker, without dots and dollar signs
 * @param report receives failures of the store; meanwhile the range stays as it is
 * @param clock the clock of the store, by which heartbeats of several processes can be compared
 */
export function createClaimRanges(
  members: Pick<ClaimMembers, 'heartbeat' | 'forget'>,
  worker: string,
  report: (error: unknown) => void,
  clock: () => Date = () => new Date(),
): ClaimRanges {
  const [claimers, senders] = [watchWorkers(undefined, RANGE_MS), watchWorkers()];
  let own = ALL_PARTITIONS;
  let isStopped = false;
  let stopBeating = async () => {};

  async function beat(inFlight: (() => number) | null): Promise<void> {
    const now = clock();
    const heartbeats = await members.heartbeat({ id: worker, at: now, ...(inFlight && { inFlight: inFlight() }) });
    senders.seen(heartbeats, now);
    const gone = claimers.seen(heartbeats, now);
    own = rangeOf(claimers.live(), worker);
    for (const { id, at } of gone) await members.forget(id, at);
  }

  return {
    own: () => own,
    workers: () => Math.max(1, senders.live().length),
    async start(inFlight = null) {
      await beat(inFlight).catch(report);
      if (!isStopped) stopBeating = every(HEARTBEAT_MS, () => beat(inFlight), report);
    },
    async stop() {
      isStopped = true;
      await stopBeating();
      await members.forget(worker, null).catch(report);
    },
  };
}

/**
 * Gives all partitions to the only worker of a store. Its heartbeats show operators what it is transmitting; without an
 * authority it sends none.
 * @param worker, report, clock as for {@link createClaimRanges}
 */
export function createWholeRange(
  members: ClaimMembers,
  worker: string,
  report: (error: unknown) => void,
  clock: () => Date = () => new Date(),
): ClaimRanges {
  let stopBeating = async () => {};
  return {
    own: () => ALL_PARTITIONS,
    workers: () => 1,
    async start(inFlight = null) {
      // Removes the heartbeats of an earlier process, which was killed.
      for (const { id } of await members.list()) await members.forget(id, null);
      if (inFlight === null) return;
      const beat = () => members.heartbeat({ id: worker, at: clock(), inFlight: inFlight() });
      stopBeating = every(ALONE_HEARTBEAT_MS, beat, report, { firstMs: 0 });
    },
    async stop() {
      await stopBeating();
      await members.forget(worker, null).catch(report);
    },
  };
}
