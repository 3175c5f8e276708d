import type { Invoice } from './invoice.ts';
import type { Stage } from './lifecycle.ts';

const DAY_MS = 86_400_000;

export const ATTENTION_REASONS = ['internal_error', 'outcome_unknown', 'undecided', 'pdf_delayed'] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/** An invoice that does not go on as it should. Nothing of it is lost: its stage is tried again, ever more rarely. */
export interface Attention {
  readonly reason: AttentionReason;
  readonly stage: Stage;
  readonly since: Date;
  readonly nextAttemptAt: Date;
}

/** How many runs of a stage may end without progress (a worker that died counts) before it is taken for a defect and not for bad luck. */
export const SUSPICIOUS_CLAIMS = 4;
/** Asking for the outcome of a transmission, or drawing a PDF, in vain: from here on it is no hiccup. */
export const MANY_ATTEMPTS = 5;

/** What is the matter with an invoice; null when all is well. */
export function attentionOf(invoice: Invoice, now: Date): Attention | null {
  const { work } = invoice;
  if (!work) return null;
  const because = (reason: AttentionReason, since: Date): Attention => {
    return { reason, stage: work.stage, since, nextAttemptAt: work.dueAt };
  };
  const since = (status: Invoice['status']) =>
    invoice.events.find((event) => event.status === status)?.at ?? work.since;
  if (work.claims >= SUSPICIOUS_CLAIMS) return because('internal_error', work.since);
  if (work.stage === 'transmit' && work.outcomeUnknown && work.attempts >= MANY_ATTEMPTS)
    return because('outcome_unknown', since('signing'));
  if (work.stage === 'decide' && daysBetween(since('transmitted'), now) >= 1)
    return because('undecided', since('transmitted'));
  if (work.stage === 'render' && work.attempts >= MANY_ATTEMPTS) return because('pdf_delayed', since('accepted'));
  return null;
}

/** Whole days from one moment to a later one. */
export function daysBetween(from: Date, to: Date): number {
  return Math.floor((to.getTime() - from.getTime()) / DAY_MS);
}
