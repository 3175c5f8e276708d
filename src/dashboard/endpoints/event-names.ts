import type { EventType } from './documents.ts';

/** The name of an event as receivers get it: `invoice.accepted`. */
export function eventName(type: EventType): string {
  return type.replace('_', '.');
}
