import { statusOfEvent } from '../../domain/event.ts';
import type { Invoice, InvoiceEvent } from '../../domain/invoice/invoice.ts';
import { builder } from '../builder.ts';
import { InvoiceStatusType } from './contract.ts';
import { addDocumentFields } from './fiscal-documents.ts';

/** A status and its start. The first status, `pending`, has no event. */
type TimelineEntry = Pick<InvoiceEvent, 'status' | 'at'> & { readonly id: string | null };

const TimelineEntryType = builder.objectRef<TimelineEntry>('InvoiceTimelineEntry').implement({
  description: 'A status in the history of an invoice.',
  fields: (t) => ({
    status: t.expose('status', { type: InvoiceStatusType, description: 'The status.' }),
    at: t.expose('at', { type: 'DateTime', description: 'Start of the status.' }),
    eventId: t.id({
      nullable: true,
      description: 'The event of this change, prefix `evt_`: `afterEventId` of `invoiceStatus`. Null for the first.',
      resolve: ({ id }) => id,
    }),
  }),
});

addDocumentFields((t) => ({
  timeline: t.field({
    type: [TimelineEntryType],
    description: 'Its statuses so far, starting with `pending`.',
    resolve: timelineOf,
  }),
}));

function timelineOf({ createdAt, events }: Invoice): TimelineEntry[] {
  return [{ status: 'pending', at: createdAt, id: null }, ...events.filter(({ type }) => statusOfEvent(type) !== null)];
}
