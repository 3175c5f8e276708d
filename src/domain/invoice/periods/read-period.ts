import type { Call, UseCase } from '../../use-case.ts';
import { KIND_NAMES, type Kind } from '../kinds.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../lifecycle.ts';
import { type DaySums, NO_SUMS, plus, type Sums } from './day-sums.ts';
import { daysOf, type Period, periodBefore, periodNamed } from './period.ts';
import type { PeriodSums } from './ports.ts';

/** The sums of the documents that were issued in a period, by kind and current status. */
export interface SummedPeriod extends Period {
  readonly sums: Readonly<Record<Kind, Readonly<Record<InvoiceStatus, Sums>>>>;
}

export interface PeriodReport {
  readonly period: SummedPeriod;
  /** The period of the same length before it. */
  readonly before: SummedPeriod;
}

/**
 * Sums what was issued in a period and in the one before. Reads a record for each day, however many documents there are.
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

function summed(of: Period, days: readonly DaySums[]): SummedPeriod {
  const rows = days.flatMap(({ date, sums }) => (date >= of.from && date <= of.through ? sums : []));
  const sumOf = (kind: Kind, status: InvoiceStatus) =>
    rows.reduce<Sums>((sum, row) => (row.kind === kind && row.status === status ? plus(sum, row) : sum), NO_SUMS);
  const ofKind = (kind: Kind) => Object.fromEntries(INVOICE_STATUSES.map((status) => [status, sumOf(kind, status)]));
  return { ...of, sums: Object.fromEntries(KIND_NAMES.map((kind) => [kind, ofKind(kind)])) as SummedPeriod['sums'] };
}
