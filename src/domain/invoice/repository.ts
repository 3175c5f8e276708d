import type { Environment } from '../tenant/tenant.ts';
import type { AuthorityAttempt } from './authority-attempt.ts';
import type { Invoice, InvoiceEvent, StoredDocument } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { InvoiceStatus, Stage } from './lifecycle.ts';

/** An invoice's place in a series: the tenant's, the environment's and the year's (Africa/Casablanca). */
export interface SeriesNumber {
  readonly year: number;
  /** 1, 2, 3… without gaps. */
  readonly serial: number;
}

/** Idempotency as it is stored with the invoice, for good. */
export interface IdempotencyMark {
  /** 1 to 255 characters, unique within tenant and environment. */
  readonly key: string;
  /** SHA-256 of the parsed body. */
  readonly fingerprint: string;
}

/** A worker's right to change an invoice: valid until its lease ends or another worker takes it over. */
export interface Claim {
  readonly invoice: Invoice;
  readonly token: string;
}

/** What one update writes, all of it or nothing. */
export interface InvoiceChange {
  readonly status?: InvoiceStatus;
  /** What is told of the change; with `status`, the event of that status. */
  readonly event?: InvoiceEvent;
  readonly series?: SeriesNumber;
  readonly dgiId?: string;
  readonly rejectionReason?: string;
  readonly xml?: StoredDocument;
  readonly pdf?: StoredDocument;
  readonly email?: InvoiceEmail;
  /** All that are kept from now on. */
  readonly authorityAttempts?: readonly AuthorityAttempt[];
  /** The next stage: kept under this claim (`keep`), or handed over or put off by `in` milliseconds, which ends the claim; null when all is done. */
  readonly work: { stage: Stage; attempts: number; outcomeUnknown: boolean; in: number; keep: boolean } | null;
}

/** Another worker holds the invoice by now, or it is not in the state that the change starts from. Nothing was written. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** The number was taken by another invoice. Nothing was written. */
export class NumberTaken extends Error {
  override readonly name = 'NumberTaken';
}

export interface InvoicePageQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  readonly status: InvoiceStatus | null;
  /** 1 to 100. */
  readonly limit: number;
  /** Towards older (`after`) or newer (`before`) invoices than this one's order key. */
  readonly cursor: { direction: 'after' | 'before'; order: string } | null;
  /** UNIX milliseconds, inclusive. */
  readonly createdFrom: number | null;
  /** UNIX milliseconds, exclusive. */
  readonly createdUntil: number | null;
  /** Cuts the page where the invoices have so many bytes as they are stored, after the first one; what the store answers at once unless given. */
  readonly maxBytes?: number;
}

export interface InvoicePage {
  /** Newest first. */
  readonly invoices: readonly Invoice[];
  /** Whether there are more in the direction of the query. */
  readonly hasMore: boolean;
  /** Whether there are others on the cursor's other side, its own invoice among them: not without a cursor. Looks them up. */
  readonly hasOthers: () => Promise<boolean>;
  /** Of the invoices as they are stored. */
  readonly bytes: number;
}

/** Where invoices are kept. Every method uses an index and is one round trip unless it says otherwise. */
export interface InvoiceRepository {
  /**
   * Stores a new invoice, with its work due at once.
   * @returns null when it was stored, else the invoice that has this idempotency key, and its mark
   * @throws {NumberTaken} when another invoice of the tenant and environment has its `ownNumber`
   */
  insert(
    invoice: Invoice,
    order: string,
    mark: IdempotencyMark | null,
  ): Promise<{ invoice: Invoice; fingerprint: string } | null>;
  /** All calls in one turn of the event loop are one round trip. Callers that ask for the same invoice in one turn get the same object. */
  find(invoiceId: string): Promise<Invoice | null>;
  /**
   * Those of these ids that are this tenant's in this environment, in no order, and their bytes as they are stored.
   * @param maxBytes that they may have; 4 MiB unless given
   * @throws {ServiceError} invalid_request for more
   */
  findMany(
    tenantId: string,
    environment: Environment,
    invoiceIds: readonly string[],
    maxBytes?: number,
  ): Promise<{ invoices: Invoice[]; bytes: number }>;
  findByIdempotencyKey(tenantId: string, environment: Environment, key: string): Promise<Invoice | null>;
  /** The invoice that has this legal number, whichever series it is of. */
  findByNumber(tenantId: string, environment: Environment, number: string): Promise<Invoice | null>;
  /** The id of the invoice that has this number of the client's own series. */
  findByOwnNumber(tenantId: string, environment: Environment, ownNumber: string): Promise<string | null>;
  /** The order key of a tenant's invoice, for cursors. */
  orderOf(tenantId: string, environment: Environment, invoiceId: string): Promise<string | null>;
  page(query: InvoicePageQuery): Promise<InvoicePage>;
  /** Takes the invoice's lease when work is due. @returns null when nothing is due or another worker has it */
  claim(invoiceId: string, leaseMs: number): Promise<Claim | null>;
  /** @throws {ClaimLost} */
  renew(claim: Claim, leaseMs: number): Promise<void>;
  /** Writes a change under a claim and answers the claim with the changed invoice. @throws {ClaimLost} @throws {NumberTaken} */
  change(claim: Claim, change: InvoiceChange, leaseMs: number): Promise<Claim>;
  /** Makes documents' URLs of before invalid. @returns the changed invoice, or null when the tenant has none of this id */
  raiseDocumentRevision(tenantId: string, environment: Environment, invoiceId: string): Promise<Invoice | null>;
  /** Records a mail to be sent of an invoice that nothing else is to be done for, and makes it due. @returns null when that is not so any more */
  requestEmail(invoice: Invoice, email: InvoiceEmail): Promise<Invoice | null>;
  /** The highest serial of a series, 0 when it is empty. */
  highestSerial(tenantId: string, environment: Environment, year: number): Promise<number>;
  /** Invoices that may need attention ({@link attentionOf} decides): those that fail or wait most often, up to `limit` of each kind. Two round trips. */
  needingAttention(limit: number): Promise<Invoice[]>;
  /** Makes an invoice's work due now, as if it had never failed. @returns false when it has none, or is unknown */
  retryNow(invoiceId: string): Promise<boolean>;
  /** Up to `limit` invoices whose job may be lost, those that wait the longest first. */
  overdue(limit: number): Promise<PendingWork[]>;
  /** Takes one of them over, so that it is overdue again after `pauseMs` only. @returns false when another did, or a worker has claimed it */
  takeOverdue(invoiceId: string, pauseMs: number): Promise<boolean>;
  /** The same for all of these that are overdue. */
  postponeOverdue(invoiceIds: readonly string[], pauseMs: number): Promise<void>;
}

/** A part of a document: the first and the last byte, both included. */
export interface DocumentRange {
  readonly first: number;
  readonly last: number;
}

/** Documents' bytes. */
export interface DocumentStore {
  put(bytes: Uint8Array, name: string, contentType: string): Promise<StoredDocument>;
  /** The whole document; it fits in memory by the service's own limits. */
  get(document: StoredDocument): Promise<Uint8Array>;
  /** The document, or a part of it, piece by piece as it comes from the store. */
  read(document: StoredDocument, range?: DocumentRange): AsyncIterable<Uint8Array>;
}

/** What is to be done next for an invoice. Each further try of a stage is another one. */
export interface PendingWork {
  readonly invoiceId: string;
  readonly stage: Stage;
  /** {@link Work.since} */
  readonly since: Date;
}

/** Wakes workers. A lost call loses nothing: the sweeper finds the invoice. */
export interface StageQueue {
  /** Queues the invoice's pending work, once, however often it is called. @param inMs when, in milliseconds from now */
  enqueue(invoice: Pick<Invoice, 'id' | 'work'>, inMs: number): Promise<void>;
}

/** What becomes known of an invoice, in any process, as it happens. */
export interface InvoiceNews {
  readonly invoiceId: string;
  readonly events: readonly InvoiceEvent[];
  readonly pdfStored: boolean;
}

/** One subscription to the store a process, whatever the number of listeners. */
export interface InvoiceFeed {
  /**
   * Calls `listener` for each change of this invoice from now on. After a gap (a lost connection, say) entries may come again and
   * none is missed: listeners go by the sequence number.
   * @returns ends the subscription
   */
  subscribe(invoiceId: string, listener: (news: InvoiceNews) => void): () => void;
}
