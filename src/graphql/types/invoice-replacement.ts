import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { createInvoiceInput } from '../../domain/invoice/create-invoice-input.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import type { Replacement } from '../../domain/invoice/replace-invoice.ts';
import type { Replaces } from '../../domain/invoice/replacement.ts';
import { MAX_IDEMPOTENCY_KEY } from '../../domain/limits.ts';
import { isMember } from '../../domain/principal.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import { parsedAtOnce } from '../parsed-at-once.ts';
import { inputType } from './contract.ts';
import { CreditReasonType } from './credit-note.ts';
import { IdempotencyConflictError, InvalidInputError, NotFoundError } from './errors.ts';
import { CreditNoteType, InvoiceType } from './fiscal-documents.ts';

const ReplacedInvoiceType = builder.objectRef<Replaces>('ReplacedInvoice').implement({
  description: 'The invoice that another one replaces, as the documents of the replacing one name it.',
  fields: (t) => ({
    id: t.id({ description: 'Prefix `inv_`.', resolve: ({ invoice }) => invoice.id }),
    number: t.string({
      nullable: true,
      description: 'Its legal number; null if it was rejected before it got one.',
      resolve: ({ invoice }) => invoice.number,
    }),
    issueDate: t.string({
      description: 'Its calendar date in Morocco: `2026-01-31`.',
      resolve: ({ invoice }) => invoice.issueDate,
    }),
    dgiId: t.string({
      nullable: true,
      description: "The tax authority's identifier; null if it was not accepted.",
      resolve: ({ invoice }) => invoice.dgiId,
    }),
    reason: t.expose('reason', { type: CreditReasonType, description: 'Why it was replaced.' }),
    note: t.exposeString('note', { nullable: true, description: 'The reason in words.' }),
    creditNoteId: t.id({
      nullable: true,
      description:
        'The credit note without whose acceptance the replacing invoice is not issued. Null if nothing was left to credit, or without a secret key.',
      resolve: ({ credited }, _args, { principal }) => (isMember(principal) ? (credited?.creditNoteId ?? null) : null),
    }),
  }),
});

builder.objectFields(InvoiceType, (t) => ({
  replaces: t.field({
    type: ReplacedInvoiceType,
    nullable: true,
    description: 'The invoice that it replaces; null if it replaces none.',
    resolve: ({ replaces }) => replaces,
  }),
  replacedBy: t.loadable({
    type: InvoiceType,
    nullable: true,
    description: 'The invoice that replaces it; null if there is none. Null without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(async (invoices: Invoice[], { principal, useCases, meter }) => {
      const ids = invoices.flatMap(({ replacedBy }) => replacedBy?.invoiceId ?? []);
      if (ids.length === 0 || !isMember(principal)) return invoices.map(() => null);
      const { rows } = await searchMetered(meter, ids.length * INVOICE_BYTES, (maxBytes) =>
        useCases.invoicesById(principal, ids, maxBytes),
      );
      return invoices.map(({ id, replacedBy }) => {
        const replacing = replacedBy && rows.get(replacedBy.invoiceId);
        return replacing?.replaces?.invoice.id === id ? replacing : null;
      });
    }),
  }),
}));

const ReplaceInvoicePayload = builder.objectRef<Replacement>('ReplaceInvoicePayload').implement({
  description: 'The corrected invoice, and the credit note of what was left of the replaced one.',
  fields: (t) => ({
    invoice: t.expose('invoice', { type: InvoiceType, description: 'The corrected invoice as it was created.' }),
    clientSecret: t.exposeString('clientSecret', {
      description: 'Read-only access to the corrected invoice; returned only here.',
    }),
    creditNote: t.field({
      type: CreditNoteType,
      nullable: true,
      description: 'The credit note as it was created; null if there was nothing to credit.',
      resolve: ({ creditNote }) => creditNote?.invoice ?? null,
    }),
    creditNoteClientSecret: t.string({
      nullable: true,
      description: 'Read-only access to the credit note; returned only here.',
      resolve: ({ creditNote }) => creditNote?.clientSecret ?? null,
    }),
    replayed: t.exposeBoolean('replayed', {
      description: 'Whether an earlier request with the same idempotency key created them.',
    }),
  }),
});

builder.mutationField('replaceInvoice', (t) =>
  t.field({
    type: ReplaceInvoicePayload,
    description:
      'Replaces an accepted or rejected invoice by a corrected one, and returns at once. Of an accepted invoice, what is left is credited in the same act; the corrected invoice waits until that credit note is accepted, and is rejected if it is rejected. For secret keys, and people who may invoice.',
    args: {
      invoiceId: t.arg.id({ required: true, description: 'The invoice to replace; prefix `inv_`.' }),
      input: t.arg({
        type: inputType(INVOICE),
        required: true,
        description: 'The corrected invoice, complete.',
        validate: { schema: parsedAtOnce(createInvoiceInput) },
      }),
      reason: t.arg({ type: CreditReasonType, required: true, description: 'Why the invoice is replaced.' }),
      note: t.arg.string({
        description: 'The reason in words, at most 500 characters; the credit note states it.',
      }),
      idempotencyKey: t.arg.string({
        description: `1 to ${MAX_IDEMPOTENCY_KEY} characters, not counting enclosing quotation marks. One key for both documents; not a key of another invoice.`,
      }),
    },
    authScopes: accessOf('replaceInvoice'),
    errors: { types: [InvalidInputError, NotFoundError, IdempotencyConflictError] },
    resolve: (_root, { invoiceId, input, reason, note, idempotencyKey }, { principal, useCases }) => {
      return useCases.replaceInvoice(principal, invoiceId, input, { reason, note }, idempotencyKey ?? null);
    },
  }),
);
