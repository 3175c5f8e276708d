import type { EventType } from '../event.ts';
import type { Invoice, InvoiceEvent } from '../invoice/invoice.ts';
import type { Environment } from '../tenant/tenant.ts';
import { timestampOf } from '../timestamp.ts';

/** An event in the tenant's log (specification, "Event"): what is sent, byte for byte. Kept for a limited time; the invoice keeps its own. */
export interface WebhookEvent {
  /** Prefix evt_; the receivers' deduplication key. */
  readonly id: string;
  readonly tenantId: string;
  readonly environment: Environment;
  readonly type: EventType;
  readonly invoiceId: string;
  /** The number of the status change within its invoice: 1, 2, 3…; 0 for an event that was sent by hand. */
  readonly sequence: number;
  /** When the status changed. */
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
export function bodyAtRest({
  type,
  body,
  documentRevision,
}: Pick<WebhookEvent, keyof BodyAtRest | 'type'>): BodyAtRest {
  // Other types have none, and metadata of the same names come after the URLs.
  if (type !== 'invoice.accepted') return { body };
  return { body: body.replace(URLS, NO_URLS), documentRevision };
}

/** The body with the URLs that it was made with, also when they have been revoked since. */
export function bodyToSend(
  { invoiceId, body, documentRevision }: BodyAtRest & Pick<WebhookEvent, 'invoiceId'>,
  documentUrl: DocumentUrl,
): string {
  if (documentRevision === undefined) return body;
  const invoice = { id: invoiceId, documentRevision };
  const [xml, pdf] = [JSON.stringify(documentUrl(invoice, 'xml')), JSON.stringify(documentUrl(invoice, 'pdf'))];
  return body.replace(NO_URLS, () => `"xml_url":${xml},"pdf_url":${pdf}`);
}

const URLS = /"xml_url":"([^"]*)","pdf_url":"([^"]*)"/;
const NO_URLS = '"xml_url":null,"pdf_url":null';
/** The part of a document's URL that opens it. */
const TOKEN = /([\w-]+)\.\w+$/;
/** So much of a token at the end of a text that was cut is taken for one. */
const TOKEN_START = 8;

/**
 * What a receiver answered, as it may be kept: some echo what they were sent, and the parts of the documents' URLs that open them become `…`.
 * @param body what was sent, with its URLs
 */
export function withoutDocumentTokens(answer: string, body: string): string {
  const urls = URLS.exec(body)?.slice(1) ?? [];
  const tokens = urls.flatMap((url) => TOKEN.exec(url)?.[1] ?? []);
  return tokens.reduce((text, token) => withoutCutToken(text.replaceAll(token, '…'), token), answer);
}

function withoutCutToken(text: string, token: string): string {
  for (let length = token.length - 1; length >= TOKEN_START; length--)
    if (text.endsWith(token.slice(0, length))) return `${text.slice(0, -length)}…`;
  return text;
}

/** What an event tells of its invoice besides the status. */
export type EventInvoice = Pick<
  Invoice,
  'id' | 'amount' | 'currency' | 'customer' | 'metadata' | 'createdAt' | 'documentRevision'
>;

/**
 * The event object with the invoice as it was right after this status change, whatever has become of it since: the
 * specification's five fields, in every environment (design, section 5, "events"). What else a receiver may want to know is in headers.
 * @param sent what identifies the event, when that is not the status change itself
 */
export function eventBody(
  invoice: EventInvoice,
  event: InvoiceEvent,
  documentUrl: DocumentUrl,
  sent: Pick<InvoiceEvent, 'id' | 'at'> = event,
): string {
  const accepted = event.status === 'accepted';
  return JSON.stringify({
    id: sent.id,
    object: 'event',
    type: event.type,
    created: Math.floor(sent.at.getTime() / 1000),
    data: {
      id: invoice.id,
      object: 'invoice',
      status: event.status,
      amount: invoice.amount,
      currency: invoice.currency,
      customer: { ice: invoice.customer.ice, name: invoice.customer.name },
      dgi_id: event.dgiId,
      xml_url: accepted ? documentUrl(invoice, 'xml') : null,
      pdf_url: accepted ? documentUrl(invoice, 'pdf') : null,
      metadata: invoice.metadata,
      rejection_reason: event.rejectionReason,
      created_at: timestampOf(invoice.createdAt),
      updated_at: timestampOf(event.at),
    },
  });
}
