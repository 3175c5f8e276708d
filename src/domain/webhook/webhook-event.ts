import { type EventType, kindOfEvent } from '../event.ts';
import type { Credit, Original } from '../invoice/credit.ts';
import type { DocumentKind } from '../invoice/documents.ts';
import { eventFields, restWriter } from '../invoice/field-table.ts';
import { INVOICE } from '../invoice/fields.ts';
import type { Customer, Invoice, InvoiceEvent } from '../invoice/invoice.ts';
import type { Environment } from '../tenant/tenant.ts';

/**
 * An event in the tenant's log (docs/api/contract.md, "Event"), with the exact bytes that are sent. The log keeps it
 * for a limited time; the invoice keeps its own events for good.
 */
export interface WebhookEvent {
  /** Prefix evt_; the receivers' deduplication key. */
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly type: EventType;
  /** Of the invoice, or of the credit note. */
  readonly invoiceId: string;
  /** 1, 2, 3… within the document; 0 for a test event. */
  readonly sequence: number;
  /** When it happened. */
  readonly createdAt: Date;
  /** Sort key of lists; compares as text. */
  readonly order: string;
  /** Sort key of the stream of events: equal to `order` at first; each resend by hand assigns a new one. */
  readonly place: string;
  /** The event object as JSON. */
  readonly body: string;
  /** Revision of the document URLs in the body, see `Invoice`. */
  readonly documentRevision: number;
}

/** Whether it is a test event, which no status change caused. */
export function isManual({ sequence }: Pick<WebhookEvent, 'sequence'>): boolean {
  return sequence === 0;
}

/** Whether its latest entry in the stream was made by hand: a test event or a resend. */
export function wasSentByHand({ sequence, order, place }: Pick<WebhookEvent, 'sequence' | 'order' | 'place'>): boolean {
  return isManual({ sequence }) || place !== order;
}

/** Makes the URL of an accepted invoice's document. */
export type DocumentUrl = (invoice: Pick<Invoice, 'id' | 'documentRevision'>, kind: DocumentKind) => string;

/** An event's body at rest, without the document URLs: read access to the store must not open the documents. */
export interface BodyAtRest {
  /** With null in place of each URL. */
  readonly body: string;
  /** Revision of the removed URLs; absent if there were none. */
  readonly documentRevision?: number;
}

/** Returns the body as it is stored; {@link bodyToSend} restores the same bytes. */
export function bodyAtRest({ body, documentRevision }: Pick<WebhookEvent, keyof BodyAtRest>): BodyAtRest {
  const event = JSON.parse(body) as EventObject;
  if (documentUrls(event).length === 0) return { body };
  return { body: withUrls(event, () => null), documentRevision };
}

/** Returns the body with its original URLs, even if they have been revoked since. */
export function bodyToSend(
  { invoiceId, body, documentRevision }: BodyAtRest & Pick<WebhookEvent, 'invoiceId'>,
  documentUrl: DocumentUrl,
): string {
  if (documentRevision === undefined) return body;
  return withUrls(JSON.parse(body) as EventObject, (kind) => documentUrl({ id: invoiceId, documentRevision }, kind));
}

/** The document URLs among the members of an event's data. */
const URL_FIELDS = eventFields(INVOICE).flatMap(({ name, rest }) => {
  const [, kind] = /^documents\.(xml|pdf)\.url$/.exec(name) ?? [];
  return kind ? [{ rest, kind: kind as 'xml' | 'pdf' }] : [];
});

interface EventObject {
  readonly data?: Record<string, unknown>;
}

/**
 * Writes a parsed body with other URLs. All other bytes of {@link eventBody} stay the same, as JSON.stringify is
 * deterministic.
 */
function withUrls(event: EventObject, urlOf: (kind: 'xml' | 'pdf') => string | null): string {
  const urls = Object.fromEntries(URL_FIELDS.map(({ rest, kind }) => [rest, urlOf(kind)]));
  return JSON.stringify({ ...event, data: { ...event.data, ...urls } });
}

function documentUrls({ data = {} }: EventObject): string[] {
  return URL_FIELDS.flatMap(({ rest }) => (data[rest] as string | null | undefined) ?? []);
}

/** Matches the token of a document URL, which grants access to the document. */
const TOKEN = /([\w-]+)\.\w+$/;
/** Minimum number of characters of a token that is recognized where a text was truncated. */
const TOKEN_START = 8;

/**
 * Returns the access tokens of the document URLs in a body: the last path segment of each URL, without its extension.
 */
export function documentTokens(body: string): string[] {
  return documentUrls(JSON.parse(body) as EventObject).flatMap((url) => TOKEN.exec(url)?.[1] ?? []);
}

/** Returns a receiver's answer as it is stored: each token becomes `…`, because some receivers echo the request. */
export function withoutTokens(answer: string, tokens: readonly string[]): string {
  return tokens.reduce((text, token) => withoutCutToken(text.replaceAll(token, '…'), token), answer);
}

function withoutCutToken(text: string, token: string): string {
  for (let length = token.length - 1; length >= TOKEN_START; length--)
    if (text.endsWith(token.slice(0, length))) return `${text.slice(0, -length)}…`;
  return text;
}

const writeData = restWriter(eventFields(INVOICE));

/** The document's fields that an event contains besides the status; absent fields become null. */
export type EventInvoice = Pick<Invoice, 'id' | 'documentRevision'> &
  Partial<Omit<Invoice, 'customer' | 'credit'>> & {
    readonly customer?: Partial<Customer>;
    readonly credit?: EventCredit | null;
  };

interface EventCredit extends Pick<Credit, 'reason' | 'note'> {
  readonly original: Pick<Original, 'id' | 'number'>;
}

/**
 * Writes the event object with the state of the invoice or credit note right after this status change, regardless of
 * later changes: the contract's five fields, in every environment (docs/decisions/0028). Further information for
 * receivers is in headers.
 * @param sent id and time of the event, where they are not those of the status change
 */
export function eventBody(
  invoice: EventInvoice,
  event: InvoiceEvent,
  documentUrl: DocumentUrl,
  sent: Pick<InvoiceEvent, 'id' | 'at'> = event,
): string {
  const { status, dgiId, rejectionReason, at: updatedAt } = event;
  const url = (kind: 'xml' | 'pdf') => ({ url: documentUrl(invoice, kind) });
  const documents = status === 'accepted' ? { xml: url('xml'), pdf: url('pdf') } : null;
  const { id, ...members } = writeData({ ...invoice, status, dgiId, rejectionReason, updatedAt, documents });
  return JSON.stringify({
    id: sent.id,
    object: 'event',
    type: event.type,
    created: Math.floor(sent.at.getTime() / 1000),
    data: { id, object: kindOfEvent(event.type), ...members, ...creditMembers(invoice.credit) },
  });
}

/** Returns the members that only a credit note's data has. */
function creditMembers(credit: EventCredit | null | undefined) {
  if (!credit) return {};
  const { original, reason, note } = credit;
  return { invoice: { id: original.id, number: original.number }, reason, note };
}
