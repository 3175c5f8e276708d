import { EVENTS } from '../../domain/event.ts';
import { enumOf } from '../enum-of.ts';

/** In a file of its own, because endpoints, events and deliveries import it and also import one another. */
export const EventTypeEnum = enumOf(
  'WebhookEventType',
  'The type of an event. The names are those of the event object with `_` for the dot: `invoice_signing` is `invoice.signing` there. REST subscribes only to those of invoices.',
  EVENTS,
);
