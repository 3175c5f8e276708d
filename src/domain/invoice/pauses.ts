import { daysBetween } from './attention.ts';
import type { Invoice } from './invoice.ts';

/** How long an invoice rests after a stage threw what it should not, milliseconds; twice as long each time, up to an hour. */
const DEFECT_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Delays before the attempts to sign: an HSM or a time-stamping authority may be away for a while, and a rejected invoice keeps its number. */
export const SIGN_SCHEDULE = {
  live: [0, 1000, 10_000, 60_000, 300_000, 1_800_000],
  test: [0, 500, 2000],
} as const;
/** Delays before further attempts to render; the last one repeats for ever (rendering never holds back or changes the status). */
export const RENDER_SCHEDULE = [2000, 10_000, 60_000, 600_000] as const;
/** Without a hint of the authority's, it is asked again after a tenth of the time that it has taken, within these limits. */
export const ASK_AGAIN_MS = 2000;
const LONGEST_ASK_AGAIN_MS = 600_000;

/** How long an invoice rests after a defect, milliseconds. @param times how often in a row, from 1 */
export function pauseAfter(times: number): number {
  return Math.min(DEFECT_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);
}

/**
 * How long to wait before the authority is asked again, milliseconds; and how many days it has taken, told on the first asking after each
 * full day, else 0.
 */
export function decisionWait(invoice: Invoice, now: Date): { delay: number; days: number } {
  const transmittedAt = invoice.events.find(({ status }) => status === 'transmitted')?.at ?? now;
  const tenth = (now.getTime() - transmittedAt.getTime()) / 10;
  const days = daysBetween(transmittedAt, now);
  const isNew = days > daysBetween(transmittedAt, invoice.work?.since ?? now);
  return { delay: Math.min(Math.max(tenth, ASK_AGAIN_MS), LONGEST_ASK_AGAIN_MS), days: isNew ? days : 0 };
}
