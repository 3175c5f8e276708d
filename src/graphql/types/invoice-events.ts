import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import { isMember } from '../../domain/principal.ts';
import { searchMetered } from '../answer-meter.ts';
import { builder, inBatches } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { ApiRequestType } from './api-request.ts';
import { addDocumentFields, InvoiceType } from './fiscal-documents.ts';
import { deliveriesByEvent, WebhookDeliveryType } from './webhook-delivery.ts';
import { eventsById, WebhookEventType } from './webhook-event.ts';

addDocumentFields((t) => ({
  events: t.loadableList({
    type: WebhookEventType,
    description:
      'Its events as sent to receivers, oldest first, within the retention time of events. Empty without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(ofEach((ids, context) => eventsById(ids, context))),
  }),
  deliveries: t.loadableList({
    type: WebhookDeliveryType,
    description: 'The deliveries of these events to each endpoint. Empty without a secret key.',
    resolve: (invoice) => invoice,
    ...inBatches(ofEach(deliveriesByEvent)),
  }),
}));

/**
 * Makes a resolver that loads the rows for the events of many invoices with one query. Without a secret key there are
 * none.
 */
function ofEach<Row>(load: (eventIds: string[], context: GraphQLContext) => Promise<ReadonlyMap<string, Row | Row[]>>) {
  return async (invoices: Invoice[], context: GraphQLContext): Promise<Row[][]> => {
    if (!isMember(context.principal)) return invoices.map(() => []);
    const eventIds = invoices.flatMap(({ events }) => events.map(({ id }) => id));
    const rows = eventIds.length > 0 ? await load(eventIds, context) : new Map<string, Row>();
    return invoices.map(({ events }) => events.flatMap(({ id }) => rows.get(id) ?? []));
  };
}

builder.objectField(ApiRequestType, 'invoice', (t) =>
  t.loadable({
    type: InvoiceType,
    nullable: true,
    description:
      'The current invoice of `documentId`; null if there is none, for a credit note, and for one of others.',
    resolve: ({ documentId }) => documentId,
    ...inBatches(invoicesById),
  }),
);

/**
 * Loads the current invoices with these ids; null for an unknown id, a credit note, and an invoice of another tenant.
 */
export async function invoicesById(
  ids: string[],
  { principal, useCases, meter }: GraphQLContext,
): Promise<(Invoice | null)[]> {
  const { rows } = await searchMetered(meter, new Set(ids).size * INVOICE_BYTES, (maxBytes) =>
    useCases.invoicesById(principal, ids, maxBytes),
  );
  return ids.map((id) => {
    const row = rows.get(id);
    return row?.kind === 'invoice' ? row : null;
  });
}

builder.objectField(WebhookEventType, 'invoice', (t) =>
  t.loadable({
    type: InvoiceType,
    nullable: true,
    description: 'The current invoice; null for a credit note and for the specimen of a test event.',
    resolve: ({ invoiceId }) => invoiceId,
    ...inBatches(invoicesById),
  }),
);

builder.objectField(WebhookDeliveryType, 'invoice', (t) =>
  t.loadable({
    type: InvoiceType,
    nullable: true,
    description: 'The current invoice; null for a credit note and for the specimen of a test event.',
    resolve: ({ invoiceId }) => invoiceId,
    ...inBatches(invoicesById),
  }),
);
