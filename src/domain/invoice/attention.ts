import { DAY_MS } from '../durations.ts';
import type { AttemptPurpose } from './authority-attempt.ts';
import type { Invoice } from './invoice.ts';
import type { Stage } from './lifecycle.ts';
import { isNotIssued } from './rejection-reasons.ts';

export const ATTENTION_REASONS = [
  'internal_error',
  'digest_mismatch',
  'outcome_unknown',
  'undecided',
  'receipt_delayed',
  'receipt_invalid',
  'pdf_delayed',
  'credit_note_rejected',
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/** The due time of blocked work. */
export const NEVER = new Date('9999-12-31T00:00:00Z');

/**
 * An invoice that makes no progress, or a replacement that is not issued, so that the replaced invoice remains
 * unchanged. Nothing is lost: the stage of an invoice without progress is retried at growing intervals.
 */
export interface Attention {
  readonly reason: AttentionReason;
  readonly stage: Stage;
  readonly since: Date;
  /** {@link NEVER} if nothing happens until an operator retries the invoice. */
  readonly nextAttemptAt: Date;
}

/** Number of runs of a stage without progress from which a defect is assumed. Runs whose worker died count, too. */
export const SUSPICIOUS_CLAIMS = 4;
/**
 * Number of failed attempts from which an invoice needs attention: to look up a transmission, to fetch a receipt or to
 * render a PDF.
 */
export const MANY_ATTEMPTS = 5;

const RECEIPT_PURPOSES = ['receipt', 'cleared'] as const satisfies readonly AttemptPurpose[];

/** Returns why an invoice needs attention; null if it does not. */
export function attentionOf(invoice: Invoice, now: Date): Attention | null {
  const { work } = invoice;
  if (isNotIssued(invoice) && invoice.replacedBy === null)
    return { reason: 'credit_note_rejected', stage: 'normalize', since: invoice.updatedAt, nextAttemptAt: NEVER };
  if (!work) return null;
  const because = (reason: AttentionReason, since: Date): Attention => {
    return { reason, stage: work.stage, since, nextAttemptAt: work.dueAt };
  };
  const since = (status: Invoice['status']) =>
    invoice.events.find((event) => event.status === status)?.at ?? work.since;
  if (work.blocked) return because(work.blocked, work.since);
  if (work.claims >= SUSPICIOUS_CLAIMS) return because('internal_error', work.since);
  const lastOf = (purpose: AttemptPurpose) => invoice.authorityAttempts.findLast((each) => each.purpose === purpose);
  // Look-ups continue, because a single answer may be wrong. If the answer stays the same, operators must act.
  const isForeign = work.attempts >= MANY_ATTEMPTS && lastOf('look_up')?.outcome === 'conflict';
  if (work.stage === 'transmit' && work.outcomeUnknown && work.attempts >= MANY_ATTEMPTS)
    return because(isForeign ? 'digest_mismatch' : 'outcome_unknown', since('signing'));
  if (work.stage === 'decide' && isForeign) return because('digest_mismatch', since('transmitted'));
  if (work.stage === 'normalize' && invoice.replaces?.credited && daysBetween(invoice.createdAt, now) >= 1)
    return because('undecided', invoice.createdAt);
  if (work.stage === 'decide' && daysBetween(since('transmitted'), now) >= 1)
    return because('undecided', since('transmitted'));
  if (work.stage === 'receipt' && work.attempts >= MANY_ATTEMPTS) {
    const isWrong = RECEIPT_PURPOSES.some((purpose) => lastOf(purpose)?.outcome === 'invalid');
    return because(isWrong ? 'receipt_invalid' : 'receipt_delayed', since('accepted'));
  }
  if (work.stage === 'render' && work.attempts >= MANY_ATTEMPTS) return because('pdf_delayed', since('accepted'));
  return null;
}

/** Counts the whole days from one moment to a later one. */
export function daysBetween(from: Date, to: Date): number {
  return Math.floor((to.getTime() - from.getTime()) / DAY_MS);
}
