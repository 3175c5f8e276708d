import {
  type CreditEarlierInvoiceInput,
  creditEarlierInvoiceInput,
} from '../../domain/invoice/credit-earlier-invoice.ts';
import { type CreditInvoiceInput, creditInvoiceInput } from '../../domain/invoice/credit-invoice.ts';
import { CUSTOMER } from '../../domain/invoice/customer-fields.ts';
import type { IssuedDocument } from '../../domain/invoice/issuing.ts';
import { INVOICE_LINE } from '../../domain/invoice/line-fields.ts';
import { TAX_RATE_DESCRIPTION } from '../../domain/invoice/tax-rate.ts';
import { MAX_IDEMPOTENCY_KEY } from '../../domain/limits.ts';
import { accessOf } from '../access.ts';
import { builder } from '../builder.ts';
import { inputType } from './contract.ts';
import { CreditReasonType } from './credit-note.ts';
import { IdempotencyConflictError, InvalidInputError, NotFoundError } from './errors.ts';
import { CreditNoteType } from './fiscal-documents.ts';

const CreditLineInput = builder.inputType('CreditLineInput', {
  description: 'A line of the invoice to credit.',
  fields: (t) => ({
    line: t.int({ required: true, description: 'Position of the line in the invoice, starting at 1.' }),
    quantity: t.field({
      type: 'Decimal',
      required: true,
      description: 'How much of it: at most its quantity; whole pieces of a whole quantity.',
    }),
  }),
});

const CreditAmountInput = builder.inputType('CreditAmountInput', {
  description: 'An amount to credit at one rate of VAT.',
  fields: (t) => ({
    taxRate: t.int({ required: true, description: TAX_RATE_DESCRIPTION }),
    net: t.field({ type: 'Centimes', required: true, description: 'The amount excluding tax, in centimes.' }),
    description: t.string({ description: 'The text of the credit note’s line. Default: names the invoice.' }),
  }),
});

export const CreditInvoiceInputType = builder.inputType('CreditInvoiceInput', {
  description: 'What to credit and why. Without `lines` and `amounts`: all that is left of the invoice.',
  fields: (t) => ({
    reason: t.field({ type: CreditReasonType, required: true, description: 'Why the invoice is credited.' }),
    note: t.string({ description: 'The reason in words, at most 500 characters; the documents state it.' }),
    lines: t.field({ type: [CreditLineInput], description: 'Lines of the invoice. Not with `amounts`.' }),
    amounts: t.field({ type: [CreditAmountInput], description: 'Amounts by rate of VAT. Not with `lines`.' }),
    metadata: t.field({ type: 'Metadata', description: 'As of `createInvoice`.' }),
  }),
});

const CreditEarlierInvoiceInputType = builder.inputType('CreditEarlierInvoiceInput', {
  description: 'What to credit of an invoice of another system, and why.',
  fields: (t) => ({
    number: t.string({ required: true, description: 'Its number, at most 50 characters, in one line.' }),
    issueDate: t.string({ required: true, description: 'Its date, such as `2025-03-31`: at most 10 years ago.' }),
    dgiId: t.string({ description: "The tax authority's identifier, if it has one." }),
    reason: t.field({ type: CreditReasonType, required: true, description: 'Why the invoice is credited.' }),
    note: t.string({ description: 'The reason in words, at most 500 characters; the documents state it.' }),
    customer: t.field({ type: inputType(CUSTOMER), required: true, description: 'The buyer.' }),
    lines: t.field({
      type: [inputType(INVOICE_LINE)],
      required: true,
      description: 'What is credited, 1 to 1000 lines.',
    }),
    amount: t.field({
      type: 'Centimes',
      description: 'Total including tax, as of `createInvoice`. Default: the total of the lines with their VAT.',
    }),
    metadata: t.field({ type: 'Metadata', description: 'As of `createInvoice`.' }),
  }),
});

/** Makes the payload of a mutation that creates a credit note. */
const payloadNamed = (name: string) =>
  builder.objectRef<IssuedDocument>(name).implement({
    description: 'A created credit note and its client_secret.',
    fields: (t) => ({
      creditNote: t.field({
        type: CreditNoteType,
        description: 'The credit note as it was created.',
        resolve: ({ invoice }) => invoice,
      }),
      clientSecret: t.exposeString('clientSecret', {
        description: 'Read-only access to this one credit note; returned only here.',
      }),
      replayed: t.exposeBoolean('replayed', {
        description: 'Whether an earlier request with the same idempotency key created the credit note.',
      }),
    }),
  });

const IDEMPOTENCY_KEY = `1 to ${MAX_IDEMPOTENCY_KEY} characters, not counting enclosing quotation marks. The same key and input never create a second credit note. Keys of credit notes and of invoices are apart.`;

builder.mutationFields((t) => ({
  creditInvoice: t.field({
    type: payloadNamed('CreditInvoicePayload'),
    description:
      'Creates a credit note of an accepted invoice and returns at once; it passes through the same stages as an invoice. The credit notes of an invoice never exceed it, in all and at each rate; a rejected one gives its amount back. For secret keys, and people who may invoice.',
    args: {
      invoiceId: t.arg.id({ required: true, description: 'The invoice to credit; prefix `inv_`.' }),
      input: t.arg({
        type: CreditInvoiceInputType,
        required: true,
        description: 'What to credit and why.',
        validate: { schema: creditInvoiceInput },
      }),
      idempotencyKey: t.arg.string({
        description: IDEMPOTENCY_KEY,
      }),
    },
    authScopes: accessOf('creditInvoice'),
    errors: { types: [InvalidInputError, NotFoundError, IdempotencyConflictError] },
    resolve: (_root, { invoiceId, input, idempotencyKey }, { principal, useCases }) =>
      useCases.creditInvoice(principal, invoiceId, input as CreditInvoiceInput, idempotencyKey ?? null),
  }),
  creditEarlierInvoice: t.field({
    type: payloadNamed('CreditEarlierInvoicePayload'),
    description:
      'Creates a credit note of an invoice that another system issued, and returns at once. An invoice of this service is credited with `creditInvoice`. For secret keys, and people who may invoice.',
    args: {
      input: t.arg({
        type: CreditEarlierInvoiceInputType,
        required: true,
        description: 'The invoice, what to credit of it and why.',
        validate: { schema: creditEarlierInvoiceInput },
      }),
      idempotencyKey: t.arg.string({ description: IDEMPOTENCY_KEY }),
    },
    authScopes: accessOf('creditEarlierInvoice'),
    errors: { types: [InvalidInputError, IdempotencyConflictError] },
    resolve: (_root, { input, idempotencyKey }, { principal, useCases }) =>
      useCases.creditEarlierInvoice(principal, input as CreditEarlierInvoiceInput, idempotencyKey ?? null),
  }),
}));
