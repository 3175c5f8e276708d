import type { Collection } from 'mongodb';

/** How long a job that another process locked may wait there before that process is taken for dead, milliseconds. */
const FOREIGN_LOCK_MS = 5000;

/**
 * Which of these invoices have a job that will run without our doing: it waits in the queue, or in this process, or was locked by another
 * one a moment ago. Being late is no sign that a job is lost: behind a backlog every job is late, and a second one for each would only
 * make the backlog longer.
 * @param worker the name that this process locks jobs with, its own
 */
export async function invoicesWithJob(
  jobs: Collection,
  worker: string,
  invoiceIds: readonly string[],
): Promise<Set<string>> {
  const now = Date.now();
  const waiting = jobs
    .find({
      'data.invoiceId': { $in: [...invoiceIds] },
      // Absent from a job that runs: its worker holds the invoice's lease, or died.
      nextRunAt: { $lte: new Date(now) },
      disabled: { $ne: true },
      $or: [{ lockedAt: null }, { lastModifiedBy: worker }, { lockedAt: { $gt: new Date(now - FOREIGN_LOCK_MS) } }],
    })
    .project<{ data: { invoiceId: string } }>({ 'data.invoiceId': 1 });
  return new Set((await waiting.toArray()).map(({ data }) => data.invoiceId));
}
