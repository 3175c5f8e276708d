import { EVENTS } from '../../domain/event.ts';
import { enumOf } from '../enum-of.ts';

/** Has a file of its own because endpoints, events and deliveries, which refer to one another, all have it. */
export const EventTypeEnum = enumOf(
  'WebhookEventType',
  'What an event tells of. The names are those of REST and of the event object, with `_` for their dot: `invoice_signing` is `invoice.signing` there.',
  EVENTS,
);
