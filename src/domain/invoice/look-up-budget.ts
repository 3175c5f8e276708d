import type { Capabilities } from '../authority/ports.ts';
import { HOUR_MS } from '../durations.ts';
import { MOST_COUNTED } from './authority-attempts.ts';
import type { Invoice } from './invoice.ts';

/** The age from which delays grow with it, milliseconds. */
const LEAST_AGE_MS = 1000;

/**
 * How many look-ups of one submission may begin within `windowMs`. The hour's limit is divided into equal windows of at
 * most {@link MOST_COUNTED} look-ups, so that the invoice's own record is enough to keep to it.
 */
interface LookUpBudget {
  readonly most: number;
  readonly windowMs: number;
}

/** The budget under the authority's limit for one submission; null if it sets none. */
function lookUpBudget({ lookUpsPerSubmissionPerHour: limit }: Capabilities['limits']): LookUpBudget | null {
  if (!Number.isFinite(limit)) return null;
  const hourly = Math.max(1, Math.floor(limit));
  const windows = Math.ceil(hourly / MOST_COUNTED);
  return { most: Math.floor(hourly / windows), windowMs: HOUR_MS / windows };
}

/** The starts of the look-ups in the current window, UNIX milliseconds, oldest first. */
function lookUpsIn({ authorityAttempts }: Pick<Invoice, 'authorityAttempts'>, { windowMs }: LookUpBudget, now: Date) {
  return (
    authorityAttempts
      // One that sent nothing has no request.
      .filter(({ purpose, requestId }) => purpose === 'look_up' && requestId !== null)
      .map(({ at }) => at.getTime())
      .filter((at) => at > now.getTime() - windowMs && at <= now.getTime())
  );
}

/** How long an invoice must wait until its budget allows the next look-up, milliseconds; 0 if it does. */
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
 * The least delay of the next planned look-up, milliseconds. What is left of the budget is spread over the rest of its
 * window in a geometric series: each delay is the same part of the age. So a decision is found after a similar part of
 * the time that it took, whenever it comes. With a budget of 60 an hour that part is at most a third.
 * @param since where the age begins: when the authority took the submission or the first of a row of failures
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
