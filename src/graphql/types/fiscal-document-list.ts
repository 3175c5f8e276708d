import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import { SORTS } from '../../domain/invoice/sorts.ts';
import { totalsOfInvoice } from '../../domain/invoice/totals.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf } from '../relay-page.ts';
import { outputFields } from './contract.ts';
import { DOCUMENT_FIELDS, FiscalDocumentType } from './fiscal-documents.ts';
import { InvoiceTotalsType } from './invoice-totals.ts';
import { listArguments, listInput } from './list-arguments.ts';
import { NodeInterface } from './node.ts';

const IDS = 'Prefix `inv_` or `crn_`.';
const TYPE_NAMES = { invoice: 'Invoice', credit_note: 'CreditNote' } as const;

FiscalDocumentType.implement({
  description:
    'An invoice or a credit note. Amounts are positive: those of a credit note are in favour of the customer.',
  interfaces: [NodeInterface],
  resolveType: ({ kind }) => TYPE_NAMES[kind],
  fields: (t) => ({
    ...outputFields(t, { ...INVOICE, fields: { ...DOCUMENT_FIELDS, id: { ...DOCUMENT_FIELDS.id, description: IDS } } }),
    totals: t.field({
      type: InvoiceTotalsType,
      description: 'The totals of its lines, with the VAT of each rate.',
      resolve: totalsOfInvoice,
    }),
  }),
});

export const FiscalDocumentKindType = enumOf('FiscalDocumentKind', 'The kind of a fiscal document.', {
  invoice: 'An invoice.',
  credit_note: 'A credit note.',
});

const FiscalDocumentSortType = enumOf('FiscalDocumentSort', 'The order of a list of fiscal documents.', SORTS);

const FiscalDocumentConnection = builder.connectionObject({
  type: FiscalDocumentType,
  name: 'FiscalDocumentConnection',
});

builder.queryFields((t) => ({
  fiscalDocuments: t.connection(
    {
      type: FiscalDocumentType,
      authScopes: accessOf('fiscalDocuments'),
      description:
        'The invoices and credit notes of the secret key’s tenant and environment as one list, newest first unless `sort` says otherwise. Cursors are their ids. A page of very large documents is shorter than requested: continue while `hasNextPage` is true.',
      args: {
        kind: t.arg({ type: FiscalDocumentKindType, description: 'Only documents of this kind.' }),
        sort: t.arg({
          type: FiscalDocumentSortType,
          description: 'The order of the list; default `newest`. With another one, `after` means further down in it.',
        }),
        ...listArguments(t.arg, 'documents'),
      },
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = { ...listInput(args), kind: args.kind ?? null, sort: args.sort ?? 'newest' } as const;
        const { invoices: rows, ...page } = await searchMetered(meter, asked.limit * INVOICE_BYTES, (maxBytes) =>
          useCases.fiscalDocuments(principal, { ...asked, maxBytes }),
        );
        return connectionOf({ rows, ...page }, args);
      },
    },
    FiscalDocumentConnection,
  ),
  fiscalDocumentByNumber: t.field({
    type: FiscalDocumentType,
    authScopes: accessOf('fiscalDocumentByNumber'),
    description: 'The invoice or credit note with this legal number, from the service’s series or your own.',
    args: {
      number: t.arg.string({
        required: true,
        description: 'As stated in the document: `2026-000123` or `AV-2026-000123`.',
      }),
    },
    resolve: async (_root, { number }, { principal, useCases, meter }) => {
      await meter?.hold(INVOICE_BYTES);
      return useCases.fiscalDocumentByNumber(principal, number);
    },
  }),
}));
