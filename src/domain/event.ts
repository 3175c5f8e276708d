import type { InvoiceStatus } from './invoice/lifecycle.ts';

interface EventRow {
  /** The new status of the invoice; null if the event has no status change. */
  readonly status: Exclude<InvoiceStatus, 'pending'> | null;
  /** Says what happened. */
  readonly description: string;
}

/**
 * The event types, in the order of an invoice's life (docs/api/contract.md, "Events"). A new type needs a row here and,
 * unless a status change emits it, a call of `withEvent`.
 */
export const EVENTS = {
  'invoice.signing': { status: 'signing', description: 'The XML is generated, and its XAdES signature has started.' },
  'invoice.transmitted': { status: 'transmitted', description: 'The signed invoice was sent to the tax authority.' },
  'invoice.accepted': { status: 'accepted', description: 'The tax authority accepted the invoice.' },
  'invoice.rejected': { status: 'rejected', description: 'The invoice was rejected; the reason is given.' },
} as const satisfies Readonly<Record<`invoice.${string}`, EventRow>>;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** The new status that an event of this type reports; null if it has no status change. */
export function statusOfEvent(type: EventType): EventRow['status'] {
  return EVENTS[type].status;
}

/** The event type of each status change. */
export const EVENT_OF_STATUS = Object.fromEntries(
  EVENT_TYPES.filter((type) => statusOfEvent(type) !== null).map((type) => [statusOfEvent(type), type]),
) as Readonly<Record<NonNullable<(typeof EVENTS)[EventType]['status']>, EventType>>;

/** The name of a type in GraphQL's enum, where names cannot contain a dot: `invoice_signing`. */
export function enumNameOf(type: EventType): string {
  return type.replaceAll('.', '_');
}

/** The type with this name in GraphQL's enum. @throws {Error} if there is none */
export function eventTypeNamed(name: string): EventType {
  const type = EVENT_TYPES.find((each) => enumNameOf(each) === name);
  if (type === undefined) throw new Error(`no event type is named ${name}`);
  return type;
}
