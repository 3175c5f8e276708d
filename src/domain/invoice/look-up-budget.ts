import type { Capabilities } from '../authority/ports.ts';
import { HOUR_MS } from '../durations.ts';
import { LAST_ATTEMPTS } from './authority-attempts.ts';
import type { Invoice } from './invoice.ts';

/**
 * Look-ups of an invoice that its record certainly still has: half of what it keeps, because a submission may follow
 * each look-up.
 */
const MOST_COUNTED = LAST_ATTEMPTS / 2;

/**
 * How many look-ups of one submission may begin within `windowMs`. The hour's limit is divided into equal windows of at
 * most {@link MOST_COUNTED} look-ups, so that the invoice's own record is enough to keep to it.
 */
export interface LookUpBudget {
  readonly most: number;
  readonly windowMs: number;
}

/** The budget under the authority's limit for one submission; null if it sets none. */
export function lookUpBudget({ lookUpsPerSubmissionPerHour: limit }: Capabilities['limits']): LookUpBudget | null {
  if (!Number.isFinite(limit)) return null;
  const hourly = Math.max(1, Math.floor(limit));
  const windows = Math.ceil(hourly / MOST_COUNTED);
  return { most: Math.floor(hourly / windows), windowMs: HOUR_MS / windows };
}

/** The starts of the look-ups in the current window, UNIX milliseconds, oldest first. */
function lookUpsIn({ authorityAttempts }: Pick<Invoice, 'authorityAttempts'>, { windowMs }: LookUpBudget, now: Date) {
  return (
    authorityAttempts
      // One that was kept back has no request.
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
 * The least delay of the next planned look-up, milliseconds. When three quarters of the budget are used, the rest is
 * spread over the rest of the window, so that a decision late in the window is not found by its end only.
 */
export function lookUpSpacing(
  invoice: Pick<Invoice, 'authorityAttempts'>,
  limits: Capabilities['limits'],
  now: Date,
): number {
  const budget = lookUpBudget(limits);
  if (budget === null) return 0;
  const made = lookUpsIn(invoice, budget, now);
  const [oldest] = made;
  const left = budget.most - made.length;
  if (oldest === undefined || made.length < (budget.most * 3) / 4) return 0;
  return left <= 0 ? lookUpPause(invoice, limits, now) : (oldest + budget.windowMs - now.getTime()) / left;
}
