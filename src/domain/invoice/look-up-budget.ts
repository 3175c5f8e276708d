import type { Capabilities } from '../authority/ports.ts';
import { HOUR_MS } from '../durations.ts';
import { MOST_COUNTED } from './authority-attempts.ts';
import type { Invoice } from './invoice.ts';

/** The age from which delays grow with the age, milliseconds. */
const LEAST_AGE_MS = 1000;

/**
 * The maximum number of look-ups of one submission that may begin within `windowMs`. The limit per hour is divided into
 * equal windows of at most {@link MOST_COUNTED} look-ups, so that the invoice's own record is enough to check it.
 */
interface LookUpBudget {
  readonly most: number;
  readonly windowMs: number;
}

/** Returns the budget that keeps to the authority's limit for one submission; null if there is no limit. */
function lookUpBudget({ lookUpsPerSubmissionPerHour: limit }: Capabilities['limits']): LookUpBudget | null {
  if (!Number.isFinite(limit)) return null;
  const hourly = Math.max(1, Math.floor(limit));
  const windows = Math.ceil(hourly / MOST_COUNTED);
  return { most: Math.floor(hourly / windows), windowMs: HOUR_MS / windows };
}

/** Returns the start times of the look-ups in the current window, in UNIX milliseconds, oldest first. */
function lookUpsIn({ authorityAttempts }: Pick<Invoice, 'authorityAttempts'>, { windowMs }: LookUpBudget, now: Date) {
  return (
    authorityAttempts
      // Look-ups without a request id were never sent and do not count.
      .filter(({ purpose, requestId }) => purpose === 'look_up' && requestId !== null)
      .map(({ at }) => at.getTime())
      .filter((at) => at > now.getTime() - windowMs && at <= now.getTime())
  );
}

/**
 * Returns how long an invoice must wait until its budget allows the next look-up, in milliseconds; 0 if it need not
 * wait.
 */
export function lookUpPause(
  invoice: Pick<Invoice, 'authorityAttempts'>,
  limits: Capabilities['limits'],
  now: Date,
): number {
  const budget = lookUpBudget(limits);
  if (budget === null) return 0;
  const made = lookUpsIn(invoice, budget, now);
  const oldest = made.at(-budget.most);
  return oldest === undefined ? 0 : oldest + budget.windowMs - now.getTime();
}

/**
 * Returns the minimum delay of the next planned look-up, in milliseconds. The rest of the budget is spread over the
 * rest of its window in a geometric series, so each delay is the same part of the age. A decision is thus noticed after
 * a similar part of the time that it took, whenever it comes. With a budget of 60 an hour that part is at most a third.
 * @param since the start of the age: when the authority received the submission, or the first of several failures in a
 * row
 */
export function lookUpSpacing(
  invoice: Pick<Invoice, 'authorityAttempts'>,
  limits: Capabilities['limits'],
  since: Date,
  now: Date,
): number {
  const budget = lookUpBudget(limits);
  if (budget === null) return 0;
  const made = lookUpsIn(invoice, budget, now);
  const left = budget.most - made.length;
  if (left <= 0) return lookUpPause(invoice, limits, now);
  const age = Math.max(now.getTime() - since.getTime(), LEAST_AGE_MS);
  const toEnd = (made[0] ?? now.getTime()) + budget.windowMs - now.getTime();
  return age * ((1 + toEnd / age) ** (1 / left) - 1);
}
