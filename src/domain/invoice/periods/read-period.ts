import { addDays, isCalendarDate } from '../../calendar-date.ts';
import { serviceError } from '../../errors.ts';
import type { Call, UseCase } from '../../use-case.ts';
import { KIND_NAMES, type Kind } from '../kinds.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../lifecycle.ts';
import { type DaySums, NO_SUMS, plus, type Sums } from './day-sums.ts';
import { type Days, daysOf, type Period, periodBefore, periodNamed } from './period.ts';
import type { PeriodSums } from './ports.ts';

/** The sums of the documents that were issued on some days, by kind and current status. */
export interface SummedDays extends Days {
  readonly sums: Readonly<Record<Kind, Readonly<Record<InvoiceStatus, Sums>>>>;
}

export interface SummedPeriod extends Period, SummedDays {}

export interface PeriodReport {
  readonly period: SummedPeriod;
  /** The period of the same length before it. */
  readonly before: SummedPeriod;
}

/**
 * Sums the documents that were issued in a period and in the one before. Reads one record per day, independent of the
 * number of documents.
 * @throws {ServiceError} invalid_request for a text that names no period
 */
export const period = {
  scope: 'read',
  async run(
    { periodSums }: { readonly periodSums: Pick<PeriodSums, 'days'> },
    { by: { tenant, environment } }: Call,
    name: string,
  ): Promise<PeriodReport> {
    const asked = periodNamed(name);
    const before = periodBefore(asked);
    const days = await periodSums.days({ tenantId: tenant.id, environment }, [...daysOf(before), ...daysOf(asked)]);
    return { period: summed(asked, days), before: summed(before, days) };
  },
} as const satisfies UseCase;

/** Maximum number of days that are summed at once: those of a leap year. */
export const MOST_SUMMED_DAYS = 366;

/**
 * Sums the documents that were issued from one day to another. Reads one record per day, independent of the number of
 * documents.
 * @throws {ServiceError} invalid_request for days that do not exist, or more than {@link MOST_SUMMED_DAYS}
 */
export const daySums = {
  scope: 'read',
  async run(
    { periodSums }: { readonly periodSums: Pick<PeriodSums, 'days'> },
    { by: { tenant, environment } }: Call,
    asked: Days,
  ): Promise<SummedDays> {
    const days = daysBetween(asked);
    return summed(asked, await periodSums.days({ tenantId: tenant.id, environment }, days));
  },
} as const satisfies UseCase;

/** @throws {ServiceError} invalid_request */
function daysBetween(asked: Days): string[] {
  for (const name of ['from', 'through'] as const)
    if (!isCalendarDate(asked[name]))
      throw serviceError('invalid_request', `${name} must be a date such as 2026-11-30.`, name);
  if (asked.from <= asked.through && asked.through < addDays(asked.from, MOST_SUMMED_DAYS)) return daysOf(asked);
  const message = `through must be from 0 to ${MOST_SUMMED_DAYS - 1} days after from.`;
  throw serviceError('invalid_request', message, 'through');
}

function summed<Asked extends Days>(of: Asked, days: readonly DaySums[]): Asked & SummedDays {
  const rows = days.flatMap(({ date, sums }) => (date >= of.from && date <= of.through ? sums : []));
  const sumOf = (kind: Kind, status: InvoiceStatus) =>
    rows.reduce<Sums>((sum, row) => (row.kind === kind && row.status === status ? plus(sum, row) : sum), NO_SUMS);
  const ofKind = (kind: Kind) => Object.fromEntries(INVOICE_STATUSES.map((status) => [status, sumOf(kind, status)]));
  return { ...of, sums: Object.fromEntries(KIND_NAMES.map((kind) => [kind, ofKind(kind)])) as SummedDays['sums'] };
}
