import type { QueuedInvoice, StageQueue } from '../invoice/stage-queue.ts';
import type { Capabilities } from './ports.ts';
import type { LookUpRule } from './reconciliation.ts';

/** Time without a look-up before a hint causes one, milliseconds. */
const QUIET_MS = 5000;
/** An invoice's record of calls reliably shows this many of the last hour. */
const MOST_RECORDED = 30;
/**
 * Pauses before a hint that had no effect is tried again, milliseconds: a worker that held the invoice has ended; a
 * look-up that came too early was a while ago.
 */
const AGAIN_MS = [1000, QUIET_MS] as const;
/** Maximum number of hints that wait to be tried again. Polling finds the decisions of further ones. */
const MOST_WAITING = 1000;

/** Makes look-ups due in the store. */
export interface LookUpScheduler {
  /**
   * Makes the look-up of a live invoice due now: at stage `decide`, or at `transmit` with an unknown outcome; not while
   * a worker holds it or the rule forbids it. Two round trips, whether or not there is such an invoice.
   * @param submissionId the invoice's id, or the one under which the authority holds it
   * @returns the invoice with its work; null if nothing was changed
   */
  makeLookUpDue(submissionId: string, rule: LookUpRule): Promise<QueuedInvoice | null>;
  /** The same for many invoices, which the claimer finds. @returns the number of changed ones */
  makeLookUpsDue(invoiceIds: readonly string[], rule: LookUpRule): Promise<number>;
}

/** Takes the authority's hint that a submission has changed. It changes no status; it makes the look-up due. */
export type TakeHint = (submissionId: string) => Promise<void>;

/**
 * Returns the rule for hints: they use at most half of the authority's budget for a submission, so that forged or
 * repeated hints leave enough look-ups to polling.
 */
export function hintRule({ lookUpsPerSubmissionPerHour }: Capabilities['limits']): LookUpRule {
  return { quietMs: QUIET_MS, mostAnHour: Math.min(MOST_RECORDED, Math.floor(lookUpsPerSubmissionPerHour / 2)) };
}

/**
 * @param later runs work after this many milliseconds, unless the process ends before
 * @param report receives the failure of a hint that is tried again
 */
export function createTakeHint(
  scheduler: Pick<LookUpScheduler, 'makeLookUpDue'>,
  queue: StageQueue,
  limits: () => Capabilities['limits'],
  report: (error: unknown) => void,
  later: (work: () => void, ms: number) => void = (work, ms) => void setTimeout(work, ms).unref(),
): TakeHint {
  const waiting = new Set<string>();

  async function take(submissionId: string): Promise<boolean> {
    const invoice = await scheduler.makeLookUpDue(submissionId, hintRule(limits()));
    // Not awaited, so that the answer to a hint tells nothing about the invoice.
    if (invoice) void queue.enqueue(invoice, 0);
    return invoice !== null;
  }

  function tryAgain(submissionId: string, [pause, ...further]: readonly number[]): void {
    if (pause === undefined) {
      waiting.delete(submissionId);
      return;
    }
    later(() => {
      take(submissionId)
        .catch((error: unknown) => {
          report(error);
          return false;
        })
        .then((taken) => tryAgain(submissionId, taken ? [] : further));
    }, pause);
  }

  return async (submissionId) => {
    if ((await take(submissionId)) || waiting.has(submissionId) || waiting.size >= MOST_WAITING) return;
    waiting.add(submissionId);
    tryAgain(submissionId, AGAIN_MS);
  };
}
