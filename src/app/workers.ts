import type { ClaimMembers } from '../domain/invoice/claim-members.ts';
import { isLive } from '../domain/live-workers.ts';

/** Counts the processes that do background work: stages of invoices, webhooks, mails. */
export interface Workers {
  /**
   * Returns the number of workers with a recent heartbeat ({@link isLive}), including this process. @throws while the
   * store is unavailable
   */
  count(): Promise<number>;
}

/**
 * Creates the count of workers.
 * @param isWorker whether this process is a worker. It then counts from the start, even without heartbeats: the only
 * worker of an embedded store sends none where it has no authority.
 * @param clock the clock by which heartbeats are written
 */
export function createWorkers(
  members: Pick<ClaimMembers, 'list'>,
  isWorker: boolean,
  clock: () => Date = () => new Date(),
): Workers {
  return {
    async count() {
      const now = clock();
      const live = (await members.list()).filter((each) => isLive(each, now));
      return Math.max(live.length, isWorker ? 1 : 0);
    },
  };
}
