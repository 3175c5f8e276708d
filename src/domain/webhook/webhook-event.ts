import type { EventType } from '../event.ts';
import { eventFields, restWriter } from '../invoice/field-table.ts';
import { INVOICE } from '../invoice/fields.ts';
import type { Invoice, InvoiceEvent } from '../invoice/invoice.ts';
import type { Environment } from '../tenant/tenant.ts';

/** An event in the tenant's log (docs/api/contract.md, "Event"): what is sent, byte for byte. Kept for a limited time; the invoice keeps its own. */
export interface WebhookEvent {
  /** Prefix evt_; the receivers' deduplication key. */
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly type: EventType;
  readonly invoiceId: string;
  /** The number of the event within its invoice: 1, 2, 3…; 0 for an event that was sent by hand. */
  readonly sequence: number;
  /** When it happened. */
  readonly createdAt: Date;
  /** Its place in lists, sorts as text. */
  readonly order: string;
  /** Its place for those who follow the log: the same at first, a new one each time it is sent again by hand. */
  readonly place: string;
  /** The event object, JSON. */
  readonly body: string;
  /** Of the documents' URLs in the body, see `Invoice`. */
  readonly documentRevision: number;
}

/** Whether somebody sent it by hand, in the test environment, without a status change. */
export function isManual({ sequence }: Pick<WebhookEvent, 'sequence'>): boolean {
  return sequence === 0;
}

/** Whether it stands in the log because somebody sent it by hand: a test event, or an event that was sent again. */
export function wasSentByHand({ sequence, order, place }: Pick<WebhookEvent, 'sequence' | 'order' | 'place'>): boolean {
  return isManual({ sequence }) || place !== order;
}

/** The URLs of an accepted invoice's documents. */
export type DocumentUrl = (invoice: Pick<Invoice, 'id' | 'documentRevision'>, kind: 'xml' | 'pdf') => string;

/** An event's body at rest: whoever reads the store does not get the documents' URLs, which open them. */
export interface BodyAtRest {
  /** Without the URLs: null stands in their place. */
  readonly body: string;
  /** Of the URLs that were there; absent where there were none. */
  readonly documentRevision?: number;
}

/** The body as it is kept; {@link bodyToSend} makes the same bytes of it again. */
export function bodyAtRest({ body, documentRevision }: Pick<WebhookEvent, keyof BodyAtRest>): BodyAtRest {
  if (documentUrls(body).length === 0) return { body };
  return { body: withUrls(body, () => null), documentRevision };
}

/** The body with the URLs that it was made with, also when they have been revoked since. */
export function bodyToSend(
  { invoiceId, body, documentRevision }: BodyAtRest & Pick<WebhookEvent, 'invoiceId'>,
  documentUrl: DocumentUrl,
): string {
  if (documentRevision === undefined) return body;
  return withUrls(body, (kind) => documentUrl({ id: invoiceId, documentRevision }, kind));
}

/** The members of an event's data that are the URLs of documents. */
const URL_FIELDS = eventFields(INVOICE).flatMap(({ name, rest }) => {
  const [, kind] = /^documents\.(xml|pdf)\.url$/.exec(name) ?? [];
  return kind ? [{ rest, kind: kind as 'xml' | 'pdf' }] : [];
});

interface EventObject {
  readonly data: Record<string, unknown>;
}

/** The same event with these URLs. Bytes of {@link eventBody} stay the same otherwise: what JSON.stringify wrote, it writes again. */
function withUrls(body: string, urlOf: (kind: 'xml' | 'pdf') => string | null): string {
  const event = JSON.parse(body) as EventObject;
  for (const { rest, kind } of URL_FIELDS) event.data[rest] = urlOf(kind);
  return JSON.stringify(event);
}

function documentUrls(body: string): string[] {
  const { data = {} } = JSON.parse(body) as Partial<EventObject>;
  return URL_FIELDS.flatMap(({ rest }) => (data[rest] as string | null | undefined) ?? []);
}

/** The part of a document's URL that opens it. */
const TOKEN = /([\w-]+)\.\w+$/;
/** So much of a token at the end of a text that was cut is taken for one. */
const TOKEN_START = 8;

/** What opens the documents of a body: the last part of each URL, without its ending. */
export function documentTokens(body: string): string[] {
  return documentUrls(body).flatMap((url) => TOKEN.exec(url)?.[1] ?? []);
}

/** What a receiver answered, as it may be kept: some echo what they were sent, and each of the tokens becomes `…`. */
export function withoutTokens(answer: string, tokens: readonly string[]): string {
  return tokens.reduce((text, token) => withoutCutToken(text.replaceAll(token, '…'), token), answer);
}

function withoutCutToken(text: string, token: string): string {
  for (let length = token.length - 1; length >= TOKEN_START; length--)
    if (text.endsWith(token.slice(0, length))) return `${text.slice(0, -length)}…`;
  return text;
}

const writeData = restWriter(eventFields(INVOICE));

/** What an event tells of its invoice besides the status; null is told of what is absent. */
export type EventInvoice = Pick<Invoice, 'id' | 'documentRevision'> & Partial<Invoice>;

/**
 * The event object with the invoice as it was right after this status change, whatever has become of it since: the
 * contract's five fields, in every environment (docs/decisions/0028). What else a receiver may want to know is in headers.
 * @param sent what identifies the event, when that is not the status change itself
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
    data: { id, object: 'invoice', ...members },
  });
}
