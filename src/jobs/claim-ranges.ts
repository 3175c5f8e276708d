import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import { ALL_PARTITIONS, type PartitionRange, rangeOf } from '../domain/invoice/lanes.ts';
import { every } from '../domain/kit/every.ts';
import { watchWorkers } from '../domain/live-workers.ts';

const HEARTBEAT_MS = 1000;
/** How long a worker counts after its last heartbeat, milliseconds: longer than a lease, which ends first. */
const LIVE_MS = 5000;

/** The partitions in which this worker looks for due invoices. */
export interface ClaimRanges {
  /**
   * The range of this worker. Ranges of several workers overlap, or leave a gap, only until each has noticed that one
   * came or went; what lies in a gap becomes late, and {@link createClaimer} takes up late work anywhere.
   */
  own(): PartitionRange;
  start(): Promise<void>;
  /** Ends the part of this worker, so that the others divide its range. */
  stop(): Promise<void>;
}

/** For the only worker of a store: everything is its own. */
export const WHOLE_RANGE: ClaimRanges = { own: () => ALL_PARTITIONS, start: async () => {}, stop: async () => {} };

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
  const workers = watchWorkers(undefined, LIVE_MS);
  let own = ALL_PARTITIONS;
  const first = Promise.withResolvers<void>();
  let stopBeating = async () => {};

  async function beat(): Promise<void> {
    const now = clock();
    const gone = workers.seen(await members.heartbeat({ id: worker, at: now }), now);
    own = rangeOf(workers.live(), worker);
    for (const { id, at } of gone) await members.forget(id, at);
  }

  return {
    own: () => own,
    async start() {
      stopBeating = every(HEARTBEAT_MS, () => beat().finally(first.resolve), report, { firstMs: 0 });
      await first.promise;
    },
    async stop() {
      await stopBeating();
      first.resolve();
      await members.forget(worker, null).catch(report);
    },
  };
}
