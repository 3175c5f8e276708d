import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import { ALL_PARTITIONS, type PartitionRange, rangeOf } from '../domain/invoice/lanes.ts';
import { every } from '../domain/kit/every.ts';
import { watchWorkers } from '../domain/live-workers.ts';

const HEARTBEAT_MS = 1000;
/** The same for the only worker of a store, which nobody else depends on, milliseconds. */
const ALONE_HEARTBEAT_MS = 5000;
/**
 * How long a worker has a range after its last heartbeat, milliseconds: longer than a lease, which ends first. Its share
 * of the authority's limits is longer its own (`LIVE_MS`), because what it sent may still be under way.
 */
const RANGE_MS = 5000;

/** The partitions in which this worker looks for due invoices. */
export interface ClaimRanges {
  /**
   * The range of this worker. Ranges of several workers overlap, or leave a gap, only until each has noticed that one
   * came or went; what lies in a gap becomes late, and {@link createClaimer} takes up late work anywhere.
   */
  own(): PartitionRange;
  /** Number of live workers, this one included, which share the limits of the authority. */
  workers(): number;
  /** @param inFlight number of invoices that this process is transmitting; null: it transmits none */
  start(inFlight?: (() => number) | null): Promise<void>;
  /** Ends the part of this worker, so that the others divide its range. */
  stop(): Promise<void>;
}

/**
 * Divides the partitions evenly among the live workers, by their heartbeats.
 * @param worker the id of this worker, without dots and dollar signs
 * @param report receives failures of the store; the range stays as it is meanwhile
 * @param clock that of the store, by which heartbeats of several processes can be compared
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
 * Gives everything to the only worker of a store. Its heartbeats tell operators what it is transmitting; without an
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
      // Those of an earlier process, which was killed.
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
