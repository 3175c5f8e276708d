import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import { LIVE_MS } from '../domain/live-workers.ts';

/** Tells how many processes do the background work: stages of invoices, webhooks, mails. */
export interface Workers {
  /** The workers with a heartbeat of the last {@link LIVE_MS}, this process included. @throws while the store is away */
  count(): Promise<number>;
}

/**
 * @param isWorker whether this process is one. It counts at once, and without heartbeats: the only worker of an embedded
 *   store sends none.
 * @param clock that of the heartbeats
 */
export function createWorkers(
  members: Pick<ClaimMembers, 'list'>,
  isWorker: boolean,
  clock: () => Date = () => new Date(),
): Workers {
  return {
    async count() {
      const now = clock().getTime();
      const live = (await members.list()).filter(({ at }) => Math.abs(now - at.getTime()) <= LIVE_MS);
      return Math.max(live.length, isWorker ? 1 : 0);
    },
  };
}
