import { KINDS, kindOfId } from '../../domain/invoice/kinds.ts';
import type { StatusChange } from '../../domain/invoice/watch-invoice.ts';
import { builder } from '../builder.ts';
import { InvoiceStatusType } from './contract.ts';
import './scalars.ts';

/** Makes the type of a status change, whose document is in the field `idField`. */
function statusChange(name: string, description: string, idField: string, idDescription: string) {
  return builder.objectRef<StatusChange>(name).implement({
    description,
    fields: (t) => ({
      eventId: t.id({ description: 'Prefix `evt_`; a value for `afterEventId`.', resolve: ({ event }) => event.id }),
      [idField]: t.exposeID('invoiceId', { description: idDescription }),
      status: t.field({
        type: InvoiceStatusType,
        description: 'The new status.',
        resolve: ({ event }) => event.status,
      }),
      dgiId: t.string({ nullable: true, description: 'Set when accepted.', resolve: ({ event }) => event.dgiId }),
      rejectionReason: t.string({
        nullable: true,
        description: 'Set when rejected.',
        resolve: ({ event }) => event.rejectionReason,
      }),
      updatedAt: t.field({ type: 'DateTime', description: 'Time of the change.', resolve: ({ event }) => event.at }),
    }),
  });
}

const PREFIXES = Object.values(KINDS)
  .map(({ idPrefix }) => `\`${idPrefix}_\``)
  .join(' or ');

const InvoiceStatusChange = statusChange(
  'InvoiceStatusChange',
  'A status change of an invoice.',
  'invoiceId',
  'Prefix `inv_`.',
);
const FiscalDocumentStatusChange = statusChange(
  'FiscalDocumentStatusChange',
  'A status change of an invoice or credit note.',
  'documentId',
  `Prefix ${PREFIXES}.`,
);

const COURSE =
  'The current status unless it is `pending`, then each change once and in order; completes after a final status.';

builder.subscriptionFields((t) => ({
  invoiceStatus: t.field({
    type: InvoiceStatusChange,
    description: COURSE,
    args: {
      id: t.arg.id({ required: true, description: 'Prefix `inv_`.' }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of this invoice.' }),
      afterEventId: t.arg.id({ description: 'Resumes after this event: only later changes are sent.' }),
    },
    subscribe: (_root, { id, clientSecret, afterEventId }, { principal, useCases }) =>
      useCases.watchInvoice(principal, id, clientSecret ?? null, afterEventId ?? null),
    resolve: (change) => change,
  }),
  fiscalDocumentStatus: t.field({
    type: FiscalDocumentStatusChange,
    description: `${COURSE} For invoices and credit notes.`,
    args: {
      id: t.arg.id({ required: true, description: `Prefix ${PREFIXES}.` }),
      clientSecret: t.arg.string({ description: 'With a publishable key: the client_secret of this document.' }),
      afterEventId: t.arg.id({ description: 'Resumes after this event: only later changes are sent.' }),
    },
    subscribe: (_root, { id, clientSecret, afterEventId }, { principal, useCases }) =>
      useCases.watchInvoice(principal, id, clientSecret ?? null, afterEventId ?? null, kindOfId(id) ?? undefined),
    resolve: (change) => change,
  }),
}));
