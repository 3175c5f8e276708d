import { addDays } from '../calendar-date.ts';
import { HOUR_MS, MINUTE_MS } from '../durations.ts';
import { serviceError } from '../errors.ts';
import { moroccanDate, startOfMoroccanDay } from '../morocco/time.ts';
import type { Member } from '../principal.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { StatusCounts } from './invoice-queries.ts';
import { INVOICE_STATUSES, isFinal } from './lifecycle.ts';
import type { InvoiceReading } from './repository.ts';

/** The invoices that were created on a day, by their current status. */
export interface DayCounts {
  /** The calendar date in Morocco, `YYYY-MM-DD`. */
  readonly date: string;
  readonly counts: StatusCounts;
}

/** Counts of a day that cannot change any more: of the whole day, or of some of its hours. */
export interface SettledDay {
  readonly whole: StatusCounts | null;
  /** The counts by the start of the hour in UNIX milliseconds. */
  readonly hours: ReadonlyMap<number, StatusCounts>;
  /** The counted part of the current hour: from `start` (inclusive) to `until` (exclusive), in UNIX milliseconds. */
  readonly begun: BegunHour | null;
}

export interface BegunHour {
  readonly start: number;
  readonly until: number;
  readonly counts: StatusCounts;
}

/** A tenant's settled counts of days. */
export interface SettledCounts {
  find(tenantId: string, environment: Environment, dates: readonly string[]): Promise<Map<string, SettledDay>>;
  /**
   * Adds settled counts to the stored counts of the day. A begun hour replaces the earlier one. Concurrent calls are
   * safe in any order.
   */
  keep(tenantId: string, environment: Environment, date: string, settled: SettledDay): Promise<void>;
}

/** Maximum number of days that can be queried. */
export const MOST_DAYS = 31;

/**
 * The maximum time between an invoice's creation and its storage, milliseconds. A count is settled only after it, so
 * the clocks of several processes may differ by minutes.
 */
const STORED_WITHIN_MS = 600_000;

export interface InvoiceDaysNeeds {
  readonly invoices: Pick<InvoiceReading, 'countByStatus'>;
  readonly settledCounts: SettledCounts;
  readonly now: () => Date;
}

/**
 * Returns the numbers of invoices of the last days by status, today first. Final statuses never change, so the counts
 * of a past range without open invoices are stored. Each call counts only newer invoices, the last ten minutes, and
 * hours that have open invoices. Its input is the number of days, 1 to {@link MOST_DAYS}.
 * @throws {ServiceError} invalid_request for another number of days
 */
export const invoiceDays = {
  scope: 'read',
  async run(needs: InvoiceDaysNeeds, { by }: Call, days: number): Promise<readonly DayCounts[]> {
    if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS)
      throw serviceError('invalid_request', `days must be an integer from 1 to ${MOST_DAYS}.`, 'days');
    const today = moroccanDate(needs.now());
    const dates = Array.from({ length: days }, (_, i) => addDays(today, -i));
    const settled = await needs.settledCounts.find(by.tenant.id, by.environment, dates);
    const countsOf = counterOf(needs, by);
    const found: DayCounts[] = [];
    for (const date of dates) found.push({ date, counts: await countsOf(date, settled.get(date)) });
    return found;
  },
} as const satisfies UseCase;

/** Returns the function that counts a member's invoices of a day, and stores what is settled. */
function counterOf({ invoices, settledCounts, now }: InvoiceDaysNeeds, { tenant, environment }: Member) {
  return countsOf;

  async function countsOf(date: string, settled: SettledDay | undefined): Promise<StatusCounts> {
    if (settled?.whole) return settled.whole;
    const [from, until] = [startOfMoroccanDay(date), startOfMoroccanDay(addDays(date, 1))];
    // If hours of a day are settled but not the whole day, it had open invoices when it was counted, so it is counted
    // by hours.
    if (isOver(until) && !settled) {
      const whole = await count(from, until);
      if (isSettled(whole)) {
        await settledCounts.keep(tenant.id, environment, date, { whole, ...NOTHING_SETTLED });
        return whole;
      }
    }
    return countsOfHours(date, { from, until, known: settled ?? NOTHING_SETTLED });
  }

  async function countsOfHours(
    date: string,
    { from, until, known }: { from: number; until: number; known: Pick<SettledDay, 'hours' | 'begun'> },
  ): Promise<StatusCounts> {
    const news = new Map<number, StatusCounts>();
    let begun: BegunHour | null = null;
    let sum = NONE;
    for (let start = from; start < until && start <= now().getTime(); start += HOUR_MS) {
      const kept = known.hours.get(start);
      if (kept) {
        sum = plus(sum, kept);
        continue;
      }
      const end = Math.min(start + HOUR_MS, until);
      const beginning = known.begun?.start === start ? known.begun : { start, until: start, counts: NONE };
      const { counts, settled } = await countHour(beginning, end);
      if (settled.until === end) news.set(start, counts);
      else if (settled !== beginning) begun = settled;
      sum = plus(sum, counts);
    }
    const hours = Math.ceil((until - from) / HOUR_MS);
    const whole = isOver(until) && known.hours.size + news.size === hours ? sum : null;
    if (whole || news.size > 0 || begun)
      await settledCounts.keep(tenant.id, environment, date, { whole, hours: news, begun });
    return sum;
  }

  /** Counts the rest of an hour. @returns the counts of the hour, and the part of it that is settled now */
  async function countHour(beginning: BegunHour, end: number): Promise<{ counts: StatusCounts; settled: BegunHour }> {
    const overUntil = Math.floor((now().getTime() - STORED_WITHIN_MS) / MINUTE_MS) * MINUTE_MS;
    const until = Math.max(beginning.until, Math.min(end, overUntil));
    const over = until > beginning.until ? await count(beginning.until, until) : NONE;
    const counts = plus(beginning.counts, over);
    const settled = until > beginning.until && isSettled(over) ? { ...beginning, until, counts } : beginning;
    return { counts: until < end ? plus(counts, await count(until, end)) : counts, settled };
  }

  function count(from: number, until: number): Promise<StatusCounts> {
    return invoices.countByStatus({ tenantId: tenant.id, environment, from, until });
  }

  function isOver(end: number): boolean {
    return now().getTime() >= end + STORED_WITHIN_MS;
  }
}

const NOTHING_SETTLED = { hours: new Map<number, StatusCounts>(), begun: null };
const NONE = Object.fromEntries(INVOICE_STATUSES.map((status) => [status, 0])) as StatusCounts;

function plus(a: StatusCounts, b: StatusCounts): StatusCounts {
  return Object.fromEntries(INVOICE_STATUSES.map((status) => [status, a[status] + b[status]])) as StatusCounts;
}

function isSettled(counts: StatusCounts): boolean {
  return INVOICE_STATUSES.every((status) => isFinal(status) || counts[status] === 0);
}
