import type { ZodType } from 'zod';
import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { type CreateInvoiceInput, createInvoiceInput, LIMITS } from '../../domain/invoice/create-invoice-input.ts';
import type { Invoice, InvoiceLine } from '../../domain/invoice/invoice.ts';
import type { InvoiceStatus } from '../../domain/invoice/lifecycle.ts';
import { termsOf } from '../../domain/invoice/terms.ts';
import type { StatusChange } from '../../domain/invoice/watch-invoice.ts';
import { readMetered } from '../answer-meter.ts';
import { builder } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { enumOf } from '../enum-of.ts';
import { connectionOf, pageRequest } from '../relay-page.ts';
import { EnvironmentType } from './environment.ts';
import { IdempotencyConflictError, InvalidInputError } from './errors.ts';
import { InvoiceTermsInput, InvoiceTermsType } from './invoice-terms.ts';
import { findableAsNode, NodeInterface } from './node.ts';
import './scalars.ts';

const STATUS_MEANING: Readonly<Record<InvoiceStatus, string>> = {
  pending: 'Created, awaiting XML normalization.',
  signing: 'UBL XML generated, XAdES signature in progress.',
  transmitted: 'The tax authority holds the signed invoice.',
  accepted: 'The tax authority accepted it; `dgiId` is set.',
  rejected: 'It was rejected; `rejectionReason` says why.',
};

export const InvoiceStatusType = enumOf(
  'InvoiceStatus',
  "Where an invoice stands in its life cycle. The names are the REST contract's.",
  STATUS_MEANING,
);

const CustomerType = builder.objectRef<Invoice>('Customer').implement({
  description: 'The buyer.',
  fields: (t) => ({
    ice: t.string({
      description: 'Identifiant commun de l’entreprise, 15 digits.',
      resolve: ({ customer }) => customer.ice,
    }),
    name: t.string({ description: 'Company name.', resolve: ({ customer }) => customer.name }),
    address: t.string({
      nullable: true,
      description: 'Full address; shown to a secret key only.',
      resolve: ({ customer }, _args, { principal }) => (principal.kind === 'secret' ? customer.address : null),
    }),
    email: t.string({
      nullable: true,
      description: 'Where the signed PDF is sent; shown to a secret key only.',
      resolve: ({ customer }, _args, { principal }) => (principal.kind === 'secret' ? customer.email : null),
    }),
  }),
});

const LineType = builder.objectRef<InvoiceLine>('InvoiceLine').implement({
  description: 'One line of an invoice.',
  fields: (t) => ({
    description: t.exposeString('description', { description: 'Designation of the service or product.' }),
    quantity: t.expose('quantity', { type: 'SafeInt', description: 'A positive integer.' }),
    unitPrice: t.expose('unitPrice', { type: 'Centimes', description: 'Unit price excluding tax.' }),
    taxRate: t.exposeInt('taxRate', { description: 'VAT in percent: 0, 7, 10, 14 or 20.' }),
    amount: t.expose('amount', { type: 'Centimes', description: 'quantity × unitPrice, excluding tax.' }),
  }),
});

export const InvoiceType = builder.objectRef<Invoice>('Invoice').implement({
  description: 'An electronic invoice.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Prefix `inv_`.' }),
    status: t.expose('status', { type: InvoiceStatusType, description: 'Present status.' }),
    amount: t.expose('amount', { type: 'Centimes', description: 'Total including tax.' }),
    environment: t.expose('environment', {
      type: EnvironmentType,
      description: 'Whether it was really transmitted, or is a test.',
    }),
    currency: t.exposeString('currency', { description: 'Always `MAD`.' }),
    number: t.exposeString('number', {
      nullable: true,
      description:
        'Legal number: the one it was created with, or the next of the service’s series, null while pending.',
    }),
    customer: t.field({ type: CustomerType, description: 'The buyer.', resolve: (invoice) => invoice }),
    lines: t.field({
      type: [LineType],
      description: 'At least one.',
      extensions: { most: LIMITS.lines },
      resolve: ({ lines }) => [...lines],
    }),
    terms: t.field({
      type: InvoiceTermsType,
      description: 'Dates, and how to pay.',
      resolve: (invoice) => termsOf(invoice),
    }),
    metadata: t.expose('metadata', { type: 'Metadata', description: "The client's own data, echoed back." }),
    xmlUrl: t.string({
      nullable: true,
      description: 'The signed XML; null until accepted.',
      resolve: documentUrl('xml'),
    }),
    pdfUrl: t.string({ nullable: true, description: 'The PDF; null until accepted.', resolve: documentUrl('pdf') }),
    dgiId: t.exposeString('dgiId', {
      nullable: true,
      description: "The tax authority's identifier; set only when accepted.",
    }),
    rejectionReason: t.exposeString('rejectionReason', { nullable: true, description: 'Why; set only when rejected.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its status last changed.' }),
  }),
});

function documentUrl(kind: 'xml' | 'pdf') {
  return (invoice: Invoice, _args: unknown, { useCases }: GraphQLContext) =>
    invoice.status === 'accepted' ? useCases.documentUrl(invoice, kind) : null;
}

findableAsNode({
  prefix: 'inv',
  type: 'Invoice',
  find: (id, clientSecret, { principal, useCases }) => useCases.readInvoice(principal, id, clientSecret),
});

export const InvoiceConnection = builder.connectionObject({ type: InvoiceType, name: 'InvoiceConnection' });

builder.queryFields((t) => ({
  invoice: t.field({
    type: InvoiceType,
    description: 'One invoice: by a secret key, by its client_secret, or by a publishable key with `clientSecret`.',
    extensions: { reads: INVOICE_BYTES },
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of this invoice.' }),
    },
    resolve: (_root, { id, clientSecret }, { principal, useCases }) =>
      useCases.readInvoice(principal, id, clientSecret ?? null),
  }),
  invoices: t.connection(
    {
      type: InvoiceType,
      authScopes: { secretKey: true },
      description:
        'The invoices of the secret key’s tenant and environment, newest first. Cursors are invoice ids. Very large invoices make a page shorter than asked for: go on while there is a next one.',
      extensions: { reads: INVOICE_BYTES },
      args: {
        status: t.arg({ type: InvoiceStatusType, description: 'Only invoices of this status.' }),
        createdAfter: t.arg({ type: 'DateTime', description: 'Created after this instant.' }),
        createdBefore: t.arg({ type: 'DateTime', description: 'Created before this instant.' }),
      },
      resolve: async (_root, args, { principal, useCases, meter }) => {
        const asked = {
          ...pageRequest(args),
          status: args.status ?? null,
          createdAfter: args.createdAfter ?? null,
          createdBefore: args.createdBefore ?? null,
        };
        const read = (maxBytes?: number) =>
          useCases.listInvoices(principal, { ...asked, ...(maxBytes !== undefined && { maxBytes }) });
        const { invoices: rows, ...page } = await readMetered(meter, read);
        return connectionOf({ rows, ...page }, args);
      },
    },
    InvoiceConnection,
  ),
}));

const CustomerInput = builder.inputType('CustomerInput', {
  description: 'The buyer.',
  fields: (t) => ({
    ice: t.string({ required: true, description: 'Exactly 15 digits.' }),
    name: t.string({ required: true, description: 'Company name, at most 200 characters.' }),
    address: t.string({ description: 'Full address, at most 500 characters.' }),
    email: t.string({ description: 'Where the signed PDF is sent.' }),
  }),
});

const LineInput = builder.inputType('InvoiceLineInput', {
  description: 'One line.',
  fields: (t) => ({
    description: t.string({ required: true, description: 'Designation, at most 500 characters.' }),
    quantity: t.field({ type: 'SafeInt', required: true, description: 'A positive integer.' }),
    unitPrice: t.field({ type: 'Centimes', required: true, description: 'Excluding tax.' }),
    taxRate: t.int({ required: true, defaultValue: 20, description: 'VAT in percent: 0, 7, 10, 14 or 20.' }),
  }),
});

const CreateInvoiceInputType = builder.inputType('CreateInvoiceInput', {
  description: 'An invoice to create.',
  fields: (t) => ({
    amount: t.field({
      type: 'Centimes',
      required: true,
      description: 'Total including tax; must equal the lines with their VAT.',
    }),
    currency: t.string({ required: true, description: '`MAD`.' }),
    customer: t.field({ type: CustomerInput, required: true, description: 'The buyer.' }),
    lines: t.field({ type: [LineInput], required: true, description: '1 to 1,000.' }),
    metadata: t.field({ type: 'Metadata', description: 'Free key/value data.' }),
    terms: t.field({ type: InvoiceTermsInput, description: 'Dates, and how to pay.' }),
    number: t.string({
      description:
        'The number of your own series: letters A to Z and a to z, digits, and between them spaces and `. / _ -`, at most 50 characters; never used before in this environment. Left out, the invoice gets the next one of the service’s series.',
    }),
  }),
});

const CreateInvoicePayload = builder
  .objectRef<{ invoice: Invoice; clientSecret: string; replayed: boolean }>('CreateInvoicePayload')
  .implement({
    description: 'A created invoice.',
    fields: (t) => ({
      invoice: t.expose('invoice', { type: InvoiceType, description: 'As it was at its creation.' }),
      clientSecret: t.exposeString('clientSecret', {
        description: 'Read-only access to this one invoice; given here only.',
      }),
      replayed: t.exposeBoolean('replayed', {
        description: 'Whether an earlier request with the same key had created it.',
      }),
    }),
  });

builder.mutationFields((t) => ({
  createInvoice: t.field({
    type: CreateInvoicePayload,
    description: 'Creates an invoice and answers at once; processing goes on. Needs a secret key.',
    args: {
      input: t.arg({
        type: CreateInvoiceInputType,
        required: true,
        description: 'The invoice.',
        // The plugin hands on what the schema parsed, so the resolver gets a CreateInvoiceInput.
        validate: { schema: createInvoiceInput as unknown as ZodType<typeof CreateInvoiceInputType.$inferInput> },
      }),
      idempotencyKey: t.arg.string({
        description:
          '1 to 255 characters, quotes around them not counted: the same key and input never create a second invoice, whether here or by REST.',
      }),
    },
    authScopes: { issuer: true },
    errors: { types: [InvalidInputError, IdempotencyConflictError] },
    resolve: (_root, { input, idempotencyKey }, { principal, useCases }) =>
      useCases.createInvoice(principal, input as unknown as CreateInvoiceInput, idempotencyKey ?? null),
  }),
}));

const StatusChangeType = builder.objectRef<StatusChange>('InvoiceStatusChange').implement({
  description: 'A status change of an invoice.',
  fields: (t) => ({
    eventId: t.id({ description: 'Prefix `evt_`; what to resume after.', resolve: ({ event }) => event.id }),
    invoiceId: t.exposeID('invoiceId', { description: 'Prefix `inv_`.' }),
    status: t.field({ type: InvoiceStatusType, description: 'The new status.', resolve: ({ event }) => event.status }),
    dgiId: t.string({ nullable: true, description: 'Set when accepted.', resolve: ({ event }) => event.dgiId }),
    rejectionReason: t.string({
      nullable: true,
      description: 'Set when rejected.',
      resolve: ({ event }) => event.rejectionReason,
    }),
    updatedAt: t.field({ type: 'DateTime', description: 'When it changed.', resolve: ({ event }) => event.at }),
  }),
});

builder.subscriptionFields((t) => ({
  invoiceStatus: t.field({
    type: StatusChangeType,
    description:
      'The present status unless pending, then each change once and in order; completes after the final one.',
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of this invoice.' }),
      afterEventId: t.arg.id({ description: 'Resume: only what came after this event.' }),
    },
    subscribe: (_root, { id, clientSecret, afterEventId }, { principal, useCases }) =>
      useCases.watchInvoice(principal, id, clientSecret ?? null, afterEventId ?? null),
    resolve: (change) => change,
  }),
}));
