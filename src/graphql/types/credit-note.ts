import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { CREDIT_REASONS, type Original } from '../../domain/invoice/credit.ts';
import type { RecordType } from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import { totalsOfInvoice } from '../../domain/invoice/totals.ts';
import { isMember } from '../../domain/principal.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { outputFields } from './contract.ts';
import { CreditNoteType, InvoiceType } from './fiscal-documents.ts';
import { InvoiceTotalsType } from './invoice-totals.ts';
import { findableAsNode, NodeInterface } from './node.ts';

const { terms: _terms, ...COMMON } = INVOICE.fields;

/** The fields that a credit note has in common with an invoice. */
const CREDIT_NOTE = {
  ...INVOICE,
  name: 'CreditNote',
  description: 'A credit note: it corrects an accepted invoice. Amounts are positive and in favour of the customer.',
  fields: {
    ...COMMON,
    id: { ...COMMON.id, description: 'Prefix `crn_`.' },
    amount: { ...COMMON.amount, description: 'Amount credited, in centimes, including tax.' },
    lines: { ...COMMON.lines, description: 'What is credited.' },
    number: {
      ...COMMON.number,
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
  interfaces: [NodeInterface],
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

builder.objectFields(InvoiceType, (t) => ({
  creditNotes: t.loadableList({
    type: CreditNoteType,
    description: 'Its credit notes that are not rejected, oldest first. Empty without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(creditNotesOf),
  }),
  creditedAmount: t.loadable({
    type: 'Centimes',
    nullable: true,
    description: 'The sum of its credit notes that are not rejected, in centimes. Null without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(async (invoices: Invoice[], context) => {
      const notes = await creditNotesOf(invoices, context);
      return notes.map((each) =>
        isMember(context.principal) ? each.reduce((sum, { amount }) => sum + amount, 0) : null,
      );
    }),
  }),
}));

async function creditNotesOf(
  invoices: Invoice[],
  { principal, useCases, meter }: GraphQLContext,
): Promise<Invoice[][]> {
  const ids = isMember(principal)
    ? invoices.flatMap(({ credits }) => credits.list.map(({ creditNoteId }) => creditNoteId))
    : [];
  if (ids.length === 0) return invoices.map(() => []);
  const { rows } = await searchMetered(meter, ids.length * INVOICE_BYTES, (maxBytes) =>
    useCases.creditNotesById(principal, ids, maxBytes),
  );
  return invoices.map(({ id, credits }) => {
    const notes = credits.list.flatMap(({ creditNoteId }) => rows.get(creditNoteId) ?? []);
    return notes.filter(({ status, credit }) => status !== 'rejected' && credit?.original.id === id);
  });
}
