import { READ_BYTES } from '../../domain/answer-bounds.ts';
import { type FilterTotals, MOST_TOTALLED } from '../../domain/invoice/periods/filter-totals.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import { InvoiceStatusType } from './contract.ts';
import { FiscalDocumentKindType } from './fiscal-document-list.ts';
import { sumOfRates } from './period.ts';
import './scalars.ts';

const FiscalDocumentTotalsType = builder.objectRef<FilterTotals>('FiscalDocumentTotals').implement({
  description: 'The totals of a list. Amounts of credit notes are taken away.',
  fields: (t) => ({
    count: t.expose('count', { type: 'SafeInt', description: 'Number of documents that were summed.' }),
    net: t.field({
      type: 'CentimesSum',
      description: 'Excluding tax.',
      resolve: ({ sums: { rates } }) => sumOfRates(rates, ({ net }) => net),
    }),
    tax: t.field({
      type: 'CentimesSum',
      description: 'The VAT of all rates.',
      resolve: ({ sums: { rates } }) => sumOfRates(rates, ({ tax }) => tax),
    }),
    total: t.field({
      type: 'CentimesSum',
      description: 'The stated amounts, tax included.',
      resolve: ({ sums }) => sums.amount,
    }),
    hasMore: t.exposeBoolean('hasMore', {
      description: `Whether there may be more documents than \`count\`: a search sums at most ${MOST_TOTALLED}, and ${READ_BYTES / 1024 ** 2} MiB of them.`,
    }),
  }),
});

builder.queryField('fiscalDocumentTotals', (t) =>
  t.field({
    type: FiscalDocumentTotalsType,
    authScopes: accessOf('fiscalDocumentTotals'),
    description:
      'The totals of `fiscalDocuments` with the same filter. Without a search they are those of the days of issue, and some seconds behind.',
    args: {
      kind: t.arg({ type: FiscalDocumentKindType, description: 'Only documents of this kind.' }),
      status: t.arg({ type: InvoiceStatusType, description: 'Only documents of this status.' }),
      search: t.arg.string({ description: 'Only documents that match each of these words, as in `fiscalDocuments`.' }),
      from: t.arg.string({ description: 'The first day of issue in Morocco, `YYYY-MM-DD`.' }),
      through: t.arg.string({ description: 'The last day of issue.' }),
    },
    resolve: (_root, { kind, status, search, from, through }, { principal, useCases, meter }) => {
      const asked = { kind: kind ?? null, status: status ?? null, from: from ?? null, through: through ?? null };
      // Without a search, the totals come from the sums of days, and no documents are read.
      if (search == null) return useCases.fiscalDocumentTotals(principal, { ...asked, search: null });
      return searchMetered(meter, READ_BYTES, (maxBytes) =>
        useCases.fiscalDocumentTotals(principal, { ...asked, search, maxBytes }),
      );
    },
  }),
);
