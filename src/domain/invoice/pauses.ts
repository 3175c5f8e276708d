import type { Capabilities } from '../authority/ports.ts';
import { daysBetween } from './attention.ts';
import type { Invoice } from './invoice.ts';
import { lookUpBudget, lookUpSpacing } from './look-up-budget.ts';

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
/** Pause of a live invoice while there is no certificate to sign it with, in milliseconds. */
export const NO_CERTIFICATE_PAUSE_MS = 60_000;
/**
 * Delay before each further attempt to render, in milliseconds. The last one repeats without limit, because rendering
 * never changes the status.
 */
export const RENDER_SCHEDULE = [2000, 10_000, 60_000, 600_000] as const;
/**
 * A request for a PDF makes the next attempt to render due when the last one failed this long ago, in milliseconds: a
 * customer does not wait for ten minutes after an outage, and no client can have a broken PDF tried all the time.
 */
export const ASKED_AGAIN_AFTER_MS = 30_000;
/**
 * Delay before each further attempt to fetch the authority's documents, in milliseconds. The last one repeats without
 * limit.
 */
export const RECEIPT_SCHEDULE = [1000, 5000, 30_000, 120_000, 600_000] as const;
/** Limits of the delay before the next look-up of a decision, in milliseconds. */
const ASK_AGAIN_MS = 2000;
const LONGEST_ASK_AGAIN_MS = 600_000;
/** Delay after a look-up that failed, in milliseconds. It doubles with each further one, up to the longest delay. */
const AFTER_FAILURE_MS = 1000;
/** The least delay, also where the authority asks for a shorter one. */
const LEAST_ASK_AGAIN_MS = 100;
/** The least delay where the authority reports decisions by callback. */
const BESIDE_CALLBACKS_MS = 60_000;
/**
 * Without a hint from the authority the delay is this part of the time since transmission; under a budget of look-ups
 * it is the larger part with which the look-ups of a window stay within it.
 */
const PART_OF_WAIT = 0.1;
const PART_TIMES_BUDGET = 8;

/** Pause of an invoice after a defect, in milliseconds. @param times number of defects in a row, from 1 */
export function pauseAfter(times: number): number {
  return Math.min(DEFECT_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);
}

/** The number of claims from which the pause after a defect no longer grows. */
export const MOST_PAUSED = 1 + Math.ceil(Math.log2(LONGEST_PAUSE_MS / DEFECT_PAUSE_MS));

/**
 * @param hintMs the authority's hint when to ask again, milliseconds from now; null if it gave none
 * @returns `delay` before the next look-up, in milliseconds; `days`: the full days that the authority has taken, on the
 *   first look-up after each full day, otherwise 0
 */
export function decisionWait(
  invoice: Invoice,
  { decision, limits }: Pick<Capabilities, 'decision' | 'limits'>,
  hintMs: number | null,
  now: Date,
): { delay: number; days: number } {
  const transmittedAt = invoice.events.find(({ status }) => status === 'transmitted')?.at ?? now;
  const budget = lookUpBudget(limits);
  const part = Math.max(PART_OF_WAIT, budget === null ? 0 : PART_TIMES_BUDGET / budget.most);
  const share = (now.getTime() - transmittedAt.getTime()) * part;
  const growing = Math.min(Math.max(share, ASK_AGAIN_MS), LONGEST_ASK_AGAIN_MS);
  const least = decision === 'callback' ? BESIDE_CALLBACKS_MS : LEAST_ASK_AGAIN_MS;
  const days = daysBetween(transmittedAt, now);
  const isNew = days > daysBetween(transmittedAt, invoice.work?.since ?? now);
  const delay = Math.max(hintMs ?? growing, least, lookUpSpacing(invoice, limits, now));
  return { delay: Math.ceil(delay), days: isNew ? days : 0 };
}

/**
 * Delay after a failed look-up of a decision, in milliseconds. It told nothing, so the pace at which an undecided
 * submission is asked for (slow beside callbacks) does not apply; the budget does.
 * @param invoice with the failed look-up in its record
 */
export function failedLookUpWait(
  invoice: Pick<Invoice, 'authorityAttempts'>,
  { limits }: Pick<Capabilities, 'limits'>,
  now: Date,
): number {
  const lookUps = invoice.authorityAttempts.filter(({ purpose }) => purpose === 'look_up');
  const failures = lookUps.length - 1 - lookUps.findLastIndex(({ outcome }) => outcome !== 'unknown');
  const growing = Math.min(AFTER_FAILURE_MS * 2 ** Math.max(0, failures - 1), LONGEST_ASK_AGAIN_MS);
  return Math.ceil(Math.max(growing, lookUpSpacing(invoice, limits, now)));
}
