import { EVENT_TYPES, enumNameOf, eventTypeNamed } from '../../domain/event.ts';
import type { EventType } from './documents.ts';

/** The GraphQL names of the event types, in the order of an invoice's life. */
export const EVENT_NAMES = EVENT_TYPES.map(enumNameOf) as EventType[];

/** Returns the name of an event as receivers get it: `invoice.accepted`. */
export function eventName(type: EventType): string {
  return eventTypeNamed(type);
}
