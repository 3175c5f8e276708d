import type { Kind } from './invoice/kinds.ts';
import type { InvoiceStatus } from './invoice/lifecycle.ts';

type ChangedStatus = Exclude<InvoiceStatus, 'pending'>;

interface EventRow {
  /** The kind of the documents that have the event. */
  readonly kind: Kind;
  /** The new status of the document; null if the event has no status change. */
  readonly status: ChangedStatus | null;
  /** Says what happened. */
  readonly description: string;
}

/**
 * The event types, in the order of a document's life. Those of invoices are in the contract (docs/api/contract.md,
 * "Events"). A new type needs a row here and, unless a status change emits it, a call of `withEvent`.
 */
export const EVENTS = {
  'invoice.signing': {
    kind: 'invoice',
    status: 'signing',
    description: 'The XML is generated, and its XAdES signature has started.',
  },
  'invoice.transmitted': {
    kind: 'invoice',
    status: 'transmitted',
    description: 'The signed invoice was sent to the tax authority.',
  },
  'invoice.accepted': {
    kind: 'invoice',
    status: 'accepted',
    description: 'The tax authority accepted the invoice.',
  },
  'invoice.rejected': {
    kind: 'invoice',
    status: 'rejected',
    description: 'The invoice was rejected; the reason is given.',
  },
  'credit_note.signing': {
    kind: 'credit_note',
    status: 'signing',
    description: 'The XML of the credit note is generated, and its XAdES signature has started.',
  },
  'credit_note.transmitted': {
    kind: 'credit_note',
    status: 'transmitted',
    description: 'The signed credit note was sent to the tax authority.',
  },
  'credit_note.accepted': {
    kind: 'credit_note',
    status: 'accepted',
    description: 'The tax authority accepted the credit note.',
  },
  'credit_note.rejected': {
    kind: 'credit_note',
    status: 'rejected',
    description: 'The credit note was rejected; the reason is given.',
  },
} as const satisfies Readonly<Record<`${Kind}.${string}`, EventRow>>;

export type EventType = keyof typeof EVENTS;
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[];

/** Returns the kind of the documents that have events of this type. */
export function kindOfEvent(type: EventType): Kind {
  return EVENTS[type].kind;
}

/** Returns the types of the events of one kind of document. */
export function eventTypesOf(kind: Kind): EventType[] {
  return EVENT_TYPES.filter((type) => kindOfEvent(type) === kind);
}

/** Returns the new status that an event of this type reports; null if it has no status change. */
export function statusOfEvent(type: EventType): EventRow['status'] {
  return EVENTS[type].status;
}

const BY_CHANGE = new Map(EVENT_TYPES.map((type) => [`${kindOfEvent(type)} ${statusOfEvent(type)}`, type]));

/** Returns the event type of a status change of a document. @throws {Error} if the table has none */
export function eventOfStatus(kind: Kind, status: ChangedStatus): EventType {
  const type = BY_CHANGE.get(`${kind} ${status}`);
  if (type === undefined) throw new Error(`no event reports the status ${status} of the kind ${kind}`);
  return type;
}

/** Returns the name of a type in GraphQL's enum, where names cannot contain a dot: `invoice_signing`. */
export function enumNameOf(type: EventType): string {
  return type.replaceAll('.', '_');
}

/** Returns the type with this name in GraphQL's enum. @throws {Error} if there is none */
export function eventTypeNamed(name: string): EventType {
  const type = EVENT_TYPES.find((each) => enumNameOf(each) === name);
  if (type === undefined) throw new Error(`no event type is named ${name}`);
  return type;
}
