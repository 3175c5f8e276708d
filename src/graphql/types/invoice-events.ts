import { INVOICE_BYTES } from '../../domain/answer-bounds.ts';
import { EVENT_TYPES } from '../../domain/event.ts';
import type { Invoice } from '../../domain/invoice/invoice.ts';
import { isMember } from '../../domain/principal.ts';
import { MOST_DELIVERIES } from '../../domain/webhook/delivery.ts';
import { readMetered } from '../answer-meter.ts';
import { builder, UNCACHED } from '../builder.ts';
import type { GraphQLContext } from '../context.ts';
import { InvoiceType } from './invoice.ts';
import { WebhookDeliveryType } from './webhook-delivery.ts';
import { EVENT_BYTES, eventsById, WebhookEventType } from './webhook-event.ts';

builder.objectFields(InvoiceType, (t) => ({
  events: t.loadableList({
    type: WebhookEventType,
    extensions: { most: EVENT_TYPES.length, reads: EVENT_BYTES },
    description:
      'Its events as sent to receivers, oldest first, within the retention time of events. Empty without a secret key.',
    loaderOptions: UNCACHED,
    resolve: (invoice) => invoice,
    load: ofEach((ids, context) => eventsById(ids, context)),
  }),
  deliveries: t.loadableList({
    type: WebhookDeliveryType,
    extensions: { most: MOST_DELIVERIES },
    description: 'The deliveries of these events to each endpoint. Empty without a secret key.',
    loaderOptions: UNCACHED,
    resolve: (invoice) => invoice,
    load: ofEach((ids, { principal, useCases }) => useCases.deliveriesByEvent(principal, ids)),
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

async function invoicesById(
  ids: string[],
  { principal, useCases, meter }: GraphQLContext,
): Promise<(Invoice | null)[]> {
  const { rows } = await readMetered(meter, (maxBytes) => useCases.invoicesById(principal, ids, maxBytes));
  return ids.map((id) => rows.get(id) ?? null);
}

builder.objectField(WebhookEventType, 'invoice', (t) =>
  t.loadable({
    type: InvoiceType,
    nullable: true,
    extensions: { reads: INVOICE_BYTES },
    description: 'The current invoice; null for the specimen of a test event.',
    loaderOptions: UNCACHED,
    resolve: ({ invoiceId }) => invoiceId,
    load: invoicesById,
  }),
);

builder.objectField(WebhookDeliveryType, 'invoice', (t) =>
  t.loadable({
    type: InvoiceType,
    nullable: true,
    extensions: { reads: INVOICE_BYTES },
    description: 'The current invoice; null for the specimen of a test event.',
    loaderOptions: UNCACHED,
    resolve: ({ invoiceId }) => invoiceId,
    load: invoicesById,
  }),
);
