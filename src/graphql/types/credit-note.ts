import { INVOICE_BYTES, READ_BYTES } from '../../domain/answer-bounds.ts';
import { CREDIT_REASONS, type Original } from '../../domain/invoice/credit.ts';
import type { RecordType } from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import type { AcceptedCredit } from '../../domain/invoice/read-credits.ts';
import { totalsOfInvoice } from '../../domain/invoice/totals.ts';
import { type PageSpan, placeInList } from '../../domain/page.ts';
import { isMember } from '../../domain/principal.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { type ConnectionArguments, connectionOf, pageRequest } from '../relay-page.ts';
import { outputFields } from './contract.ts';
import { CreditNoteType, DOCUMENT_FIELDS, FiscalDocumentType, InvoiceType } from './fiscal-documents.ts';
import { InvoiceTotalsType } from './invoice-totals.ts';
import { findableAsNode, NodeInterface } from './node.ts';

/** The fields that a credit note has in common with an invoice. */
const CREDIT_NOTE = {
  ...INVOICE,
  name: 'CreditNote',
  description: 'A credit note: it corrects an accepted invoice. Amounts are positive and in favour of the customer.',
  fields: {
    ...DOCUMENT_FIELDS,
    id: { ...DOCUMENT_FIELDS.id, description: 'Prefix `crn_`.' },
    amount: { ...DOCUMENT_FIELDS.amount, description: 'Amount credited, in centimes, including tax.' },
    lines: { ...DOCUMENT_FIELDS.lines, description: 'What is credited.' },
    number: {
      ...DOCUMENT_FIELDS.number,
      description: 'Legal number of the series of credit notes: `AV-2026-000123`; null until it is assigned.',
    },
  },
} as const satisfies RecordType;

export const CreditReasonType = enumOf('CreditReason', 'Why an invoice is credited.', CREDIT_REASONS);

const CreditedInvoiceType = builder.objectRef<Original>('CreditedInvoice').implement({
  description: 'The invoice that a credit note corrects, as its documents name it.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: true, description: 'Prefix `inv_`; null for an invoice of another system.' }),
    number: t.exposeString('number', { description: 'Its legal number.' }),
    issueDate: t.exposeString('issueDate', { description: 'Its calendar date in Morocco: `2026-01-31`.' }),
    dgiId: t.exposeString('dgiId', { nullable: true, description: "The tax authority's identifier, if known." }),
  }),
});

function creditOf({ id, credit }: Invoice) {
  if (credit === null) throw new Error(`${id} is not a credit note`);
  return credit;
}

CreditNoteType.implement({
  description: CREDIT_NOTE.description,
  interfaces: [FiscalDocumentType, NodeInterface],
  fields: (t) => ({
    ...outputFields(t, CREDIT_NOTE, {}),
    invoice: t.field({
      type: CreditedInvoiceType,
      description: 'The invoice that it corrects.',
      resolve: (note) => creditOf(note).original,
    }),
    reason: t.field({
      type: CreditReasonType,
      description: 'Why the invoice is credited.',
      resolve: (note) => creditOf(note).reason,
    }),
    note: t.string({
      nullable: true,
      description: 'The reason in words, which the documents state.',
      resolve: (note) => creditOf(note).note,
    }),
    totals: t.field({
      type: InvoiceTotalsType,
      description:
        'What is credited, with the VAT of each rate. The VAT of all credit notes of an invoice adds up to that of the invoice, so it may differ from base × rate by rounding.',
      resolve: (note) => totalsOfInvoice(note),
    }),
  }),
});

findableAsNode({
  prefix: 'crn',
  type: CREDIT_NOTE.name,
  find: (id, clientSecret, { principal, useCases }) => useCases.readInvoice(principal, id, clientSecret, 'credit_note'),
});

builder.queryField('creditNote', (t) =>
  t.field({
    type: CreditNoteType,
    description: 'A credit note. Needs a secret key, its own client_secret, or a publishable key with `clientSecret`.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `crn_`.' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of this credit note.' }),
    },
    resolve: async (_root, { id, clientSecret }, { principal, useCases, meter }) => {
      await meter?.hold(INVOICE_BYTES);
      return useCases.readInvoice(principal, id, clientSecret ?? null, 'credit_note');
    },
  }),
);

const CreditNoteConnection = builder.connectionObject({
  type: CreditNoteType,
  name: 'CreditNoteConnection',
  description: `A page of the credit notes of an invoice, newest first. Those of one request are limited to ${READ_BYTES / 1024 / 1024} MiB together: request fewer if it is refused.`,
});

/** A page of the credit notes of an invoice. */
interface CreditNotesOf {
  readonly invoice: Invoice;
  readonly args: ConnectionArguments;
  readonly span: PageSpan;
}

const AcceptedCreditType = builder.objectRef<AcceptedCredit>('AcceptedCredit').implement({
  description: 'What accepted credit notes credit of an invoice.',
  fields: (t) => ({
    amount: t.expose('amount', { type: 'Centimes', description: 'Their sum, in centimes.' }),
    lastDate: t.exposeString('lastDate', {
      description: 'The calendar date of the last one in Morocco: `2026-01-31`.',
    }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  creditNotes: t.loadable({
    type: CreditNoteConnection,
    description: 'Its credit notes that are not rejected, newest first. Empty without a secret key.',
    args: t.arg.connectionArgs(),
    resolve: (invoice, args): CreditNotesOf => ({ invoice, args, span: pageRequest(args) }),
    ...inBatches(creditNotesOf),
  }),
  creditedAmount: t.loadable({
    type: 'Centimes',
    nullable: true,
    description: 'The sum of its credit notes that are not rejected, in centimes. Null without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(async (invoices: Invoice[], { principal, useCases }) => {
      if (!isMember(principal)) return invoices.map(() => null);
      const credits = await useCases.creditsOfInvoices(principal, invoices);
      return credits.map((each) => each.reduce((sum, { amount }) => sum + amount, 0));
    }),
  }),
}));

builder.objectField(InvoiceType, 'acceptedCredit', (t) =>
  t.loadable({
    type: AcceptedCreditType,
    nullable: true,
    description:
      'What its accepted credit notes credit, as its verification page states it; null if there is none. For every credential that reads the invoice.',
    resolve: (invoice) => invoice,
    ...inBatches((invoices: Invoice[], { useCases }) => useCases.acceptedCredits(invoices)),
  }),
);

/** Loads pages of the credit notes of many invoices with two queries. */
async function creditNotesOf(pages: CreditNotesOf[], { principal, useCases, meter }: GraphQLContext) {
  const invoices = pages.map(({ invoice }) => invoice);
  const credits = isMember(principal) ? await useCases.creditsOfInvoices(principal, invoices) : invoices.map(() => []);
  const places = await Promise.all(
    pages.map(({ span }, nth) =>
      pageOfIds(credits[nth]?.map(({ creditNoteId }) => creditNoteId).reverse() ?? [], span),
    ),
  );
  const ids = places.flatMap((place) => place.ids);
  const { rows } =
    isMember(principal) && ids.length > 0
      ? await searchMetered(meter, ids.length * INVOICE_BYTES, (maxBytes) =>
          useCases.creditNotesById(principal, ids, maxBytes),
        )
      : { rows: new Map<string, Invoice>() };
  return places.map(({ hasMore, hasOthers, ids: own }, nth) =>
    connectionOf({ rows: own.flatMap((id) => rows.get(id) ?? []), hasMore, hasOthers }, pages[nth]?.args ?? {}),
  );
}

/** Returns the page's part of a list of ids. @throws {ServiceError} invalid_request as {@link placeInList} */
async function pageOfIds(all: readonly string[], span: PageSpan) {
  const { limit, cursor } = await placeInList(span, async (id) => (all.includes(id) ? { order: id } : null));
  const at = cursor === null ? -1 : all.indexOf(cursor.order);
  const isBackwards = cursor?.direction === 'before';
  const [start, end] = isBackwards ? [Math.max(0, at - limit), at] : [at + 1, at + 1 + limit];
  return {
    ids: all.slice(start, end),
    hasMore: isBackwards ? start > 0 : end < all.length,
    hasOthers: async () => cursor !== null,
  };
}
