import { EVENT_TYPES, enumNameOf, eventTypeNamed, kindOfEvent } from '../../domain/event.ts';
import type { EventType } from './documents.ts';

/** The GraphQL names of the event types, in the order of a document's life, those of invoices first. */
export const EVENT_NAMES = EVENT_TYPES.map(enumNameOf) as EventType[];

/** Returns the name of an event as receivers get it: `invoice.accepted`. */
export function eventName(type: EventType): string {
  return eventTypeNamed(type);
}

/** Whether a new endpoint gets these events unless one chooses otherwise: receivers may know no other kind. */
export function isPreselected(type: EventType): boolean {
  return kindOfEvent(eventTypeNamed(type)) === 'invoice';
}
