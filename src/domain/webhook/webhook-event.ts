import type { EventType } from '../event.ts';
import type { Invoice, InvoiceEvent } from '../invoice/invoice.ts';
import type { Environment } from '../tenant/tenant.ts';
import { timestampOf } from '../timestamp.ts';

/** An event in the tenant's log (specification, "Event"): what was sent, byte for byte. Kept for a limited time; the invoice keeps its own. */
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
