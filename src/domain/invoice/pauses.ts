import type { Capabilities } from '../authority/ports.ts';
import { daysBetween } from './attention.ts';
import type { Invoice } from './invoice.ts';
import { lookUpSpacing } from './look-up-budget.ts';

/** First pause after a defect, in milliseconds. It doubles each time, up to an hour. */
const DEFECT_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 3_600_000;
/**
 * Delay before each attempt to sign, in milliseconds. The later delays are long, because an HSM or time-stamping
 * authority may be unavailable for a while, and a rejected invoice would still use up its number.
 */
export const SIGN_SCHEDULE = {
  live: [0, 1000, 10_000, 60_000, 300_000, 1_800_000],
  test: [0, 500, 2000],
} as const;
/** Pause of a live invoice while there is no certificate to sign it, in milliseconds. */
export const NO_CERTIFICATE_PAUSE_MS = 60_000;
/**
 * Delay before each further attempt to render, in milliseconds. The last one repeats without limit, because rendering
 * never changes the status.
 */
export const RENDER_SCHEDULE = [2000, 10_000, 60_000, 600_000] as const;
/**
 * Time since the last failed attempt after which a request for a PDF makes the next attempt due, in milliseconds. A
 * customer thus need not wait ten minutes after an outage, and no client can have a broken PDF tried all the time.
 */
export const ASKED_AGAIN_AFTER_MS = 30_000;
/**
 * Delay before each further attempt to fetch the authority's documents, in milliseconds. The last one repeats without
 * limit.
 */
export const RECEIPT_SCHEDULE = [1000, 5000, 30_000, 120_000, 600_000] as const;
/**
 * The delay before the next look-up of a decision if the authority gave no hint, and the maximum of the growing delay,
 * in milliseconds.
 */
const ASK_AGAIN_MS = 2000;
const LONGEST_ASK_AGAIN_MS = 600_000;
/** Delay after a look-up that failed, in milliseconds. It doubles with each further one, up to the longest delay. */
const AFTER_FAILURE_MS = 1000;
/**
 * The minimum delay if the authority hints at a shorter one, in milliseconds: without and with a budget of look-ups.
 */
const LEAST_ASK_AGAIN_MS = 100;
const LEAST_BY_BUDGET_MS = 1000;
/** The minimum delay if the authority reports decisions by callback, in milliseconds. */
const BESIDE_CALLBACKS_MS = 60_000;
/** The minimum delay as a part of the time since transmission, whatever the authority hints at. */
const PART_OF_WAIT = 0.1;

/**
 * Returns how long an invoice is paused after a defect, in milliseconds.
 * @param times number of defects in a row, from 1
 */
export function pauseAfter(times: number): number {
  return Math.min(DEFECT_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS);
}

/** The number of claims from which the pause after a defect no longer grows. */
export const MOST_PAUSED = 1 + Math.ceil(Math.log2(LONGEST_PAUSE_MS / DEFECT_PAUSE_MS));

/**
 * Returns when to look up a decision again. The hint is the minimum delay. The time since transmission and the budget
 * of look-ups can make it longer, because some authorities hint at a second and take an hour.
 * @param hintMs the delay that the authority suggests, in milliseconds; null if it gave none
 * @returns `delay` before the next look-up, in milliseconds; `days`: the full days since transmission, on the first
 * look-up after each full day, otherwise 0
 */
export function decisionWait(
  invoice: Invoice,
  { decision, limits }: Pick<Capabilities, 'decision' | 'limits'>,
  hintMs: number | null,
  now: Date,
): { delay: number; days: number } {
  const transmittedAt = transmittedAtOf(invoice, now);
  const growing = Math.min((now.getTime() - transmittedAt.getTime()) * PART_OF_WAIT, LONGEST_ASK_AGAIN_MS);
  const least = Number.isFinite(limits.lookUpsPerSubmissionPerHour) ? LEAST_BY_BUDGET_MS : LEAST_ASK_AGAIN_MS;
  const days = daysBetween(transmittedAt, now);
  const isNew = days > daysBetween(transmittedAt, invoice.work?.since ?? now);
  const delay = Math.max(
    hintMs ?? ASK_AGAIN_MS,
    decision === 'callback' ? BESIDE_CALLBACKS_MS : least,
    growing,
    lookUpSpacing(invoice, limits, transmittedAt, now),
  );
  return { delay: Math.ceil(delay), days: isNew ? days : 0 };
}

function transmittedAtOf({ events }: Pick<Invoice, 'events'>, now: Date): Date {
  return events.find(({ status }) => status === 'transmitted')?.at ?? now;
}

/**
 * Returns the delay after a failed look-up of a decision, in milliseconds. A failure gives no information, so the
 * slower pace for undecided submissions (such as beside callbacks) does not apply. The budget does.
 * @param invoice with the failed look-up in its record
 */
export function failedLookUpWait(
  invoice: Pick<Invoice, 'authorityAttempts' | 'events'>,
  { limits }: Pick<Capabilities, 'limits'>,
  now: Date,
): number {
  const lookUps = invoice.authorityAttempts.filter(({ purpose }) => purpose === 'look_up');
  const answered = lookUps.findLastIndex(({ outcome }) => outcome !== 'unknown');
  const failures = lookUps.length - 1 - answered;
  const growing = Math.min(AFTER_FAILURE_MS * 2 ** Math.max(0, failures - 1), LONGEST_ASK_AGAIN_MS);
  const since = lookUps[answered + 1]?.at ?? transmittedAtOf(invoice, now);
  return Math.ceil(Math.max(growing, lookUpSpacing(invoice, limits, since, now)));
}
