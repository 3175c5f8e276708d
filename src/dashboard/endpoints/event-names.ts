import { EVENT_NAMES } from '../graphql/sets.ts';
import type { EventType } from './documents.ts';

/** The name of an event as receivers get it: `invoice.accepted`. */
export function eventName(type: EventType): string {
  return EVENT_NAMES[type];
}
