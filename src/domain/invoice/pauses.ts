import { daysBetween } from './attention.ts';
import type { Invoice } from './invoice.ts';

/** First pause after a defect, in milliseconds. It doubles each time, up to an hour. */
const DEFECT_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 3_600_000;
/**
 * Delay before each attempt to sign, in milliseconds. The later delays are long because an HSM or time-stamping
 * authority may be unavailable for a while, and a rejected invoice keeps its number.
 */
export const SIGN_SCHEDULE = {
  live: [0, 1000, 10_000, 60_000, 300_000, 1_800_000],
  test: [0, 500, 2000],
} as const;
/**
 * Delay before each further attempt to render, in milliseconds. The last one repeats without limit, because rendering
 * never changes the status.
 */
export const RENDER_SCHEDULE = [2000, 10_000, 60_000, 600_000] as const;
/**
 * Delay before each further attempt to fetch the authority's documents, in milliseconds. The last one repeats without
 * limit.
 */
export const RECEIPT_SCHEDULE = [1000, 5000, 30_000, 120_000, 600_000] as const;
/**
 * Limits of the delay before the next look-up, in milliseconds. Without a hint from the authority it is a tenth of the
 * time since transmission.
 */
export const ASK_AGAIN_MS = 2000;
const LONGEST_ASK_AGAIN_MS = 600_000;

/** Pause of an invoice after a defect, in milliseconds. @param times number of defects in a row, from 1 */
export function pauseAfter(times: number): number {
  return Math.min(DEFECT_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);
}

/**
 * @returns `delay` before the next look-up, in milliseconds; `days`: the full days that the authority has taken, on the
 *   first look-up after each full day, otherwise 0
 */
export function decisionWait(invoice: Invoice, now: Date): { delay: number; days: number } {
  const transmittedAt = invoice.events.find(({ status }) => status === 'transmitted')?.at ?? now;
  const tenth = (now.getTime() - transmittedAt.getTime()) / 10;
  const days = daysBetween(transmittedAt, now);
  const isNew = days > daysBetween(transmittedAt, invoice.work?.since ?? now);
  return { delay: Math.min(Math.max(tenth, ASK_AGAIN_MS), LONGEST_ASK_AGAIN_MS), days: isNew ? days : 0 };
}
