import type { InvoiceStatus } from './invoice/lifecycle.ts';

interface EventRow {
  /** The status that the invoice has changed to; null: the event comes without a status change. */
  readonly status: Exclude<InvoiceStatus, 'pending'> | null;
  /** What has happened. */
  readonly description: string;
}

/**
 * The types of events, in the order of an invoice's life (docs/api/contract.md, "Events"). A type needs its row here and, unless a status change
 * emits it, the place that does, by `withEvent`.
 */
export const EVENTS = {
  'invoice.signing': { status: 'signing', description: 'The XAdES signature has started.' },
  'invoice.transmitted': { status: 'transmitted', description: 'The signed invoice was sent to the tax authority.' },
  'invoice.accepted': { status: 'accepted', description: 'The tax authority accepted the invoice.' },
  'invoice.rejected': { status: 'rejected', description: 'The invoice was rejected; the reason is given.' },
} as const satisfies Readonly<Record<`invoice.${string}`, EventRow>>;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** The status that an event of this type tells of; null where the status has not changed. */
export function statusOfEvent(type: EventType): EventRow['status'] {
  return EVENTS[type].status;
}

/** The event of each status that is reached by processing. */
export const EVENT_OF_STATUS = Object.fromEntries(
  EVENT_TYPES.filter((type) => statusOfEvent(type) !== null).map((type) => [statusOfEvent(type), type]),
) as Readonly<Record<Exclude<InvoiceStatus, 'pending'>, EventType>>;

/** The name of a type in GraphQL's enum, whose names cannot hold a dot: `invoice_signing`. */
export function enumNameOf(type: EventType): string {
  return type.replaceAll('.', '_');
}

/** The type with this name in GraphQL's enum. @throws {Error} when there is none */
export function eventTypeNamed(name: string): EventType {
  const type = EVENT_TYPES.find((each) => enumNameOf(each) === name);
  if (type === undefined) throw new Error(`no event type is named ${name}`);
  return type;
}
