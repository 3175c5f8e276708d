import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { createInvoiceInput } from '../../domain/invoice/create-invoice-input.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';
import type { IssuedDocument } from '../../domain/invoice/issuing.ts';
import { termsOf } from '../../domain/invoice/terms.ts';
import { statedWithholding } from '../../domain/invoice/withholding.ts';
import { MAX_IDEMPOTENCY_KEY } from '../../domain/limits.ts';
import { moroccanDate } from '../../domain/morocco/time.ts';
import { accessOf } from '../access.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import { parsedAtOnce } from '../parsed-at-once.ts';
import { connectionOf } from '../relay-page.ts';
import { inputType, outputFields } from './contract.ts';
import { IdempotencyConflictError, InvalidInputError } from './errors.ts';
import { FiscalDocumentType, InvoiceType } from './fiscal-documents.ts';
import { totalsOfStored } from './invoice-totals.ts';
import { listArguments, listInput } from './list-arguments.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

InvoiceType.implement({
  description: INVOICE.description,
  interfaces: [FiscalDocumentType, NodeInterface],
  fields: (t) =>
    outputFields(t, INVOICE, {
      terms: termsOf,
      isDeposit: ({ isDeposit }) => isDeposit ?? false,
      withholding: (invoice) =>
        statedWithholding({
          ...invoice,
          totals: totalsOfStored(invoice),
          issueDate: moroccanDate(invoice.createdAt),
        }),
    }),
});

findableAsNode({
  prefix: 'inv',
  type: 'Invoice',
  find: (id, clientSecret, { principal, useCases }) => useCases.readInvoice(principal, id, clientSecret),
});

const InvoiceConnection = builder.connectionObject({ type: InvoiceType, name: 'InvoiceConnection' });

builder.queryFields((t) => ({
  invoice: t.field({
    type: InvoiceType,
    description: 'An invoice. Needs a secret key, its client_secret, or a publishable key with `clientSecret`.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of this invoice.' }),
    },
    resolve: async (_root, { id, clientSecret }, { principal, useCases, meter }) => {
      await meter?.hold(INVOICE_BYTES);
      return useCases.readInvoice(principal, id, clientSecret ?? null);
    },
  }),
  invoices: t.connection(
    {
      type: InvoiceType,
      authScopes: accessOf('invoices'),
      description:
        'The invoices of the secret key’s tenant and environment, newest first. Cursors are invoice ids. A page of very large invoices is shorter than requested: continue while `hasNextPage` is true.',
      args: listArguments(t.arg, 'invoices'),
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = listInput(args);
        const { invoices: rows, ...page } = await searchMetered(meter, asked.limit * INVOICE_BYTES, (maxBytes) =>
          useCases.invoices(principal, { ...asked, maxBytes }),
        );
        return connectionOf({ rows, ...page }, args);
      },
    },
    InvoiceConnection,
  ),
}));

/** Makes the payload of a mutation that creates an invoice. @param known describes the earlier request of a replay */
export function createdInvoice(name: string, known: string) {
  return builder.objectRef<IssuedDocument>(name).implement({
    description: 'A created invoice and its client_secret.',
    fields: (t) => ({
      invoice: t.expose('invoice', { type: InvoiceType, description: 'The invoice as it was created.' }),
      clientSecret: t.exposeString('clientSecret', {
        description: 'Read-only access to this one invoice; returned only here.',
      }),
      replayed: t.exposeBoolean('replayed', {
        description: `Whether an earlier request ${known} created the invoice.`,
      }),
    }),
  });
}

builder.mutationFields((t) => ({
  createInvoice: t.field({
    type: createdInvoice('CreateInvoicePayload', 'with the same idempotency key'),
    description:
      'Creates an invoice and returns at once; processing continues in the background. For secret keys, and people who may invoice.',
    args: {
      input: t.arg({
        type: inputType(INVOICE),
        required: true,
        description: 'The invoice.',
        validate: { schema: parsedAtOnce(createInvoiceInput) },
      }),
      idempotencyKey: t.arg.string({
        description: `1 to ${MAX_IDEMPOTENCY_KEY} characters, not counting enclosing quotation marks. The same key and input never create a second invoice, in GraphQL or REST.`,
      }),
    },
    authScopes: accessOf('createInvoice'),
    errors: { types: [InvalidInputError, IdempotencyConflictError] },
    resolve: (_root, { input, idempotencyKey }, { principal, useCases }) =>
      useCases.createInvoice(principal, input, idempotencyKey ?? null),
  }),
}));
