import type { ObjectFieldBuilder } from '@pothos/core';
import { INVOICE_STATUSES, type InvoiceStatus, STATUSES } from '../../domain/invoice/lifecycle.ts';
import type { RateSum, Sums } from '../../domain/invoice/periods/day-sums.ts';
import {
  MOST_SUMMED_DAYS,
  type PeriodReport,
  type SummedDays,
  type SummedPeriod,
} from '../../domain/invoice/periods/read-period.ts';
import { TAX_RATE_DESCRIPTION, TAX_RATES, type TaxRate } from '../../domain/invoice/tax-rate.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import './scalars.ts';

/** The names of periods, for descriptions. */
export const PERIOD_NAMES = 'A month, a quarter or a year from 2000 on: `2026-11`, `2026-Q4` or `2026`.';

const NO_SUM: RateSum = { net: 0n, tax: 0n };

const PeriodRateType = builder.objectRef<RateSum & { readonly rate: TaxRate }>('PeriodRate').implement({
  description: 'What documents have at one rate of VAT.',
  fields: (t) => ({
    rate: t.exposeInt('rate', { description: TAX_RATE_DESCRIPTION }),
    net: t.expose('net', { type: 'CentimesSum', description: 'Excluding tax.' }),
    tax: t.expose('tax', { type: 'CentimesSum', description: 'The VAT.' }),
  }),
});

const PeriodSumsType = builder.objectRef<Sums>('PeriodSums').implement({
  description: 'The sums of documents. Those of credit notes are positive.',
  fields: (t) => ({
    count: t.expose('count', { type: 'SafeInt', description: 'Number of documents.' }),
    net: t.field({
      type: 'CentimesSum',
      description: 'Excluding tax.',
      resolve: ({ rates }) => sumOfRates(rates, ({ net }) => net),
    }),
    tax: t.field({
      type: 'CentimesSum',
      description: 'The VAT of all rates.',
      resolve: ({ rates }) => sumOfRates(rates, ({ tax }) => tax),
    }),
    total: t.expose('amount', {
      type: 'CentimesSum',
      description: 'The stated amounts, tax included. They may differ from `net` + `tax` by what clients rounded.',
    }),
    withheld: t.expose('withheld', { type: 'CentimesSum', description: 'The VAT that the buyers withhold.' }),
    rates: t.field({
      type: [PeriodRateType],
      description: 'By rate, the highest first. Rates that no document has are 0.',
      resolve: ({ rates }) => TAX_RATES.toReversed().map((rate) => ({ rate, ...(rates.get(rate) ?? NO_SUM) })),
    }),
  }),
});

const PeriodKindType = builder.objectRef<Readonly<Record<InvoiceStatus, Sums>>>('PeriodKind').implement({
  description: 'The sums of the documents of one kind, by their current status.',
  fields: (t) =>
    Object.fromEntries(
      INVOICE_STATUSES.map((status) => [
        status,
        t.field({ type: PeriodSumsType, description: STATUSES[status].description, resolve: (sums) => sums[status] }),
      ]),
    ),
});

/** The fields of days with their sums. */
function fieldsOfDays<Days extends SummedDays>(
  t: Pick<ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Days>, 'field' | 'string'>,
) {
  return {
    from: t.string({ description: 'The first day in Morocco, `YYYY-MM-DD`.', resolve: ({ from }) => from }),
    through: t.string({ description: 'The last day.', resolve: ({ through }) => through }),
    invoices: t.field({ type: PeriodKindType, description: 'Invoices.', resolve: ({ sums }) => sums.invoice }),
    creditNotes: t.field({
      type: PeriodKindType,
      description: 'Credit notes.',
      resolve: ({ sums }) => sums.credit_note,
    }),
  };
}

const PeriodType = builder.objectRef<SummedPeriod>('Period').implement({
  description:
    'A month, a quarter or a year, with the sums of what was issued in it. They are some seconds behind, those of documents that wait for processing a minute.',
  fields: (t) => ({
    name: t.exposeString('name', { description: '`2026-11`, `2026-Q4` or `2026`.' }),
    ...fieldsOfDays(t),
  }),
});

const SummedDaysType = builder.objectRef<SummedDays>('SummedDays').implement({
  description: 'Some days, with the sums of what was issued on them. They are as far behind as those of a period.',
  fields: (t) => ({
    ...fieldsOfDays(t),
  }),
});

const PeriodReportType = builder.objectRef<PeriodReport>('PeriodReport').implement({
  description: 'A period beside the one before.',
  fields: (t) => ({
    period: t.field({ type: PeriodType, description: 'The period.', resolve: ({ period }) => period }),
    before: t.field({
      type: PeriodType,
      description: 'The period of the same length before it.',
      resolve: ({ before }) => before,
    }),
  }),
});

builder.queryFields((t) => ({
  daySums: t.field({
    type: SummedDaysType,
    authScopes: accessOf('daySums'),
    description: 'The sums of what you issued from one day to another, by kind, current status and rate of VAT.',
    args: {
      from: t.arg.string({ required: true, description: 'The first day in Morocco, `YYYY-MM-DD`.' }),
      through: t.arg.string({
        required: true,
        description: `The last day, at most ${MOST_SUMMED_DAYS - 1} days later.`,
      }),
    },
    resolve: (_root, days, { principal, useCases }) => useCases.daySums(principal, days),
  }),
  period: t.field({
    type: PeriodReportType,
    authScopes: accessOf('period'),
    description:
      'The sums of what you issued in a period, by kind, current status and rate of VAT, beside the period before.',
    args: {
      period: t.arg.string({ required: true, description: PERIOD_NAMES }),
    },
    resolve: (_root, { period }, { principal, useCases }) => useCases.period(principal, period),
  }),
}));

/** Adds a part of the sums of all rates. */
export function sumOfRates(rates: Sums['rates'], part: (sum: RateSum) => bigint): bigint {
  return [...rates.values()].reduce((sum, each) => sum + part(each), 0n);
}
