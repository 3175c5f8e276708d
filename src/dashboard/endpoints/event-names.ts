import type { EventType } from './documents.ts';

export const EVENT_TYPES = [
  'invoice_signing',
  'invoice_transmitted',
  'invoice_accepted',
  'invoice_rejected',
] as const satisfies readonly EventType[];

/** The name of an event as receivers get it: `invoice.accepted`. */
export function eventName(type: EventType): string {
  return type.replace('_', '.');
}
