import { type EventType, statusOfEvent } from '../event.ts';
import type { SellerProfile } from '../tenant/tenant.ts';
import type { AuthorityAttempt } from './authority-attempt.ts';
import type { Stored } from './field-table.ts';
import type { CUSTOMER, INVOICE, INVOICE_LINE } from './fields.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { InvoiceStatus, Stage } from './lifecycle.ts';

export interface Customer extends Stored<typeof CUSTOMER> {}

export interface InvoiceLine extends Stored<typeof INVOICE_LINE> {}

/**
 * The central resource (docs/api/contract.md, "Invoice"), as the use cases see it: the fields of the contract and what processing needs. `terms`
 * are those that it was created with; `termsOf` adds the profile's.
 */
export interface Invoice extends Stored<typeof INVOICE> {
  readonly tenantId: string;
  /** What was known of the seller when the invoice was created: a later change of the profile never alters a document. */
  readonly seller: Partial<SellerProfile>;
  /** The number of the client's own series that it was created with; null: the service numbers it. */
  readonly ownNumber: string | null;
  /** The outbox: one entry for each event, oldest first, at most one of each type. */
  readonly events: readonly InvoiceEvent[];
  /** The signed XML, once it is stored. */
  readonly xml: StoredDocument | null;
  /** The PDF, once it is rendered. */
  readonly pdf: StoredDocument | null;
  /** Part of its documents' URLs: raising it revokes those of before. 0 at first. */
  readonly documentRevision: number;
  /** What is recorded of its mail to the customer; null before the first attempt. */
  readonly email: InvoiceEmail | null;
  /** What the tax authority was asked and answered, oldest first; the first ten and the last forty. */
  readonly authorityAttempts: readonly AuthorityAttempt[];
  /** What is to be done next; null when nothing is. */
  readonly work: Work | null;
}

/** The processing that an invoice waits for. A worker owns it while it holds the lease (docs/decisions/0006). */
export interface Work {
  readonly stage: Stage;
  /** Failed attempts of this stage so far. */
  readonly attempts: number;
  /** Whether the outcome of an attempt to transmit is unknown: the authority is asked before anything is sent again. */
  readonly outcomeUnknown: boolean;
  /** From when on a worker may claim it: the time of the next attempt, or the end of the present lease. */
  readonly dueAt: Date;
  /** How often a worker has claimed it since `since` without leaving anything changed: a defect, or deaths. */
  readonly claims: number;
  /** When the work became this: the last progress, or the last attempt that was put off. */
  readonly since: Date;
}

/** What happened to an invoice, written in the same update as the change itself. Whole seconds are shown, milliseconds kept. */
export interface InvoiceEvent {
  /** Prefix evt_; the receivers' deduplication key. */
  readonly id: string;
  /** 1, 2, 3… within the invoice. */
  readonly sequence: number;
  readonly type: EventType;
  /** That of the invoice right after the event. */
  readonly status: InvoiceStatus;
  readonly dgiId: string | null;
  readonly rejectionReason: string | null;
  readonly at: Date;
}

/** When the status that the invoice had right after this event began. */
export function statusSince({ createdAt, events }: Pick<Invoice, 'createdAt' | 'events'>, event: InvoiceEvent): Date {
  if (statusOfEvent(event.type) !== null) return event.at;
  const change = events.findLast(({ type, sequence }) => sequence < event.sequence && statusOfEvent(type) !== null);
  return change?.at ?? createdAt;
}

/** Bytes kept by the document store. */
export interface StoredDocument {
  readonly file: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly size: number;
}
