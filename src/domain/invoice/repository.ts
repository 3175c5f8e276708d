import type { Problem } from '../authority/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { AuthorityAttempt } from './authority-attempt.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import type { Invoice, InvoiceEvent, StoredDocument, StoredReceipt, Work } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type {
  CreationRange,
  CustomerQuery,
  InvoicePage,
  InvoicePageQuery,
  KnownCustomer,
  NumberedPageQuery,
  SortedPageQuery,
  StatusCounts,
} from './invoice-queries.ts';
import type { Lane, PartitionRange } from './lanes.ts';
import type { InvoiceStatus } from './lifecycle.ts';
import type { AwaitingNumber, InvoicePlace, ReservedNumber, SeriesNumber } from './series-number.ts';

/** The idempotency key as it is stored with the invoice, permanently. */
export interface IdempotencyMark {
  /** 1 to 255 characters, unique within tenant and environment. */
  readonly key: string;
  /** SHA-256 of the parsed body. */
  readonly fingerprint: string;
}

/** A worker's lease on an invoice. It is valid until it ends or another worker claims the invoice. */
export interface Claim {
  readonly invoice: Invoice;
  readonly token: string;
  /** The invoice's place, if known when the claim is made. It determines the order of the numbers. */
  readonly place?: InvoicePlace;
}

/** Work as a change states it. Fields that are left out are as in `NEW_WORK`. */
export interface NextWork
  extends Pick<Work, 'stage' | 'attempts' | 'outcomeUnknown'>,
    Partial<Pick<Work, 'failures' | 'tried' | 'idle' | 'blocked'>> {}

/** A change, written by one atomic update. */
export interface InvoiceChange {
  readonly status?: InvoiceStatus;
  /** The events to append, in order; if `status` is given, the last one is the event of that status. */
  readonly events?: readonly InvoiceEvent[];
  readonly series?: SeriesNumber;
  readonly dgiId?: string;
  readonly rejectionReason?: string;
  readonly xml?: StoredDocument;
  readonly pdf?: StoredDocument;
  readonly problems?: readonly Problem[];
  readonly authorityWarnings?: readonly Problem[];
  readonly receipt?: StoredReceipt;
  readonly cleared?: StoredDocument;
  readonly awaitsCleared?: boolean;
  readonly email?: InvoiceEmail;
  /** The complete new list, which replaces the old one. */
  readonly authorityAttempts?: readonly AuthorityAttempt[];
  readonly heldAs?: string;
  /**
   * The next work. It runs under this claim (`keep`), or is due in `in` milliseconds, which ends the claim; null: none.
   * A negative `in` moves the work forward in its lane. Blocked work is not due before an operator retries it.
   */
  readonly work: (NextWork & { readonly in: number; readonly keep: boolean }) | null;
}

/** Another worker holds the lease, or the invoice is not in the state that the change requires. Nothing was written. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Another invoice has this number. Nothing was written. */
export class NumberTaken extends Error {
  override readonly name = 'NumberTaken';
}

/** The backlog of a queue. */
export interface Backlog {
  readonly waiting: number;
  /** When the oldest work became due; null if nothing waits. */
  readonly oldest: Date | null;
}

/** The result of a creation. */
export interface CreationOutcome {
  /** The stored invoice. */
  readonly invoice: Invoice;
  /**
   * The mark of an earlier creation with the same idempotency key, which stored the invoice; null if this creation did.
   */
  readonly earlier: IdempotencyMark | null;
}

/** A document that was created with an idempotency key, and its mark. */
export interface EarlierCreation extends CreationOutcome {
  readonly earlier: IdempotencyMark;
}

/** The key by which an invoice was created, and its present state. */
export interface CreatedInvoice extends Pick<Invoice, 'status' | 'number' | 'createdAt' | 'replacedBy'> {
  /** Null if it was created without an idempotency key. */
  readonly mark: IdempotencyMark | null;
}

/** Stores new invoices. */
export interface InvoiceCreation {
  /**
   * Stores a new invoice whose work is due at once. Takes two round trips, or five after another process has created
   * for the same owner; three more for a number of the client's own series. Invoices stored at the same time share
   * round trips.
   * @param order the order key of its place in lists. If it is not higher than those of the owner's stored invoices, it
   * is raised together with the time of creation
   * @param mark the mark of the idempotency key from which the invoice's id is derived; null if the id is random
   * @returns the stored invoice, or the earlier one with this idempotency key
   * @throws {NumberTaken} when another invoice of the tenant and environment has its `ownNumber`
   */
  insert(invoice: Invoice, order: string, mark: IdempotencyMark | null): Promise<CreationOutcome>;
  /** Finds the invoice that was created with the idempotency key from which this id is derived. */
  findCreatedAs(invoiceId: string): Promise<EarlierCreation | null>;
}

/** Reads invoices: one, a page of the list, counts, and what waits for its number. */
export interface InvoiceReading {
  /**
   * Finds an invoice of any tenant, unless it is withheld because its tenant is erased. All calls in one turn of the
   * event loop share one round trip. Calls for the same invoice in one turn get the same object.
   */
  find(invoiceId: string): Promise<Invoice | null>;
  /** Returns the tenant's id for each of these invoices, of any tenant, that exists and is not withheld. */
  tenantsOf(invoiceIds: readonly string[]): Promise<Map<string, string>>;
  /**
   * Returns the present state of each of these invoices, of any tenant, that exists and is not withheld. One round
   * trip.
   */
  creationsOf(invoiceIds: readonly string[]): Promise<Map<string, CreatedInvoice>>;
  /** Finds an invoice of any tenant, even if it is withheld, for actions of operators. */
  findEvenWithheld(invoiceId: string): Promise<Invoice | null>;
  /**
   * Finds the tenant's invoices with these ids in this environment, in no particular order, with their stored size in
   * bytes.
   * @param maxBytes maximum total size; default 4 MiB
   * @throws {ServiceError} invalid_request if the invoices exceed it
   */
  findMany(
    tenantId: string,
    environment: Environment,
    invoiceIds: readonly string[],
    maxBytes?: number,
  ): Promise<{ invoices: Invoice[]; bytes: number }>;
  /** Finds an invoice by its legal number, of the service's or the client's own series. Takes up to two round trips. */
  findByNumber(tenantId: string, environment: Environment, number: string): Promise<Invoice | null>;
  /** Finds the id of the invoice with this number of the client's own series. */
  findByOwnNumber(tenantId: string, environment: Environment, ownNumber: string): Promise<string | null>;
  /** Finds the order key of a tenant's invoice, for cursors. */
  orderOf(tenantId: string, environment: Environment, invoiceId: string): Promise<string | null>;
  page(query: InvoicePageQuery): Promise<InvoicePage>;
  /** Its rows are in the order of reading. */
  sortedPage(query: SortedPageQuery): Promise<InvoicePage>;
  /** Its rows are in the order of reading. Takes two round trips for each range of series, and one more. */
  numberedPage(query: NumberedPageQuery): Promise<InvoicePage>;
  /**
   * Finds the customers of a tenant's invoices by a prefix, in the order of the prefix's field. Takes one round trip
   * for each customer, and one more.
   */
  customers(query: CustomerQuery): Promise<KnownCustomer[]>;
  /** Counts the invoices created in a range of time by their current status. */
  countByStatus(range: CreationRange): Promise<StatusCounts>;
  /**
   * Reads the highest serial of a series, by its name; 0 if it is empty. Takes two round trips, and up to three more if
   * the process that took the last number did not write it to its invoice. In that case the number is written to that
   * invoice here, or freed.
   */
  highestSerial(tenantId: string, environment: Environment, series: string): Promise<number>;
  /**
   * Returns the number in the series of each of these invoices that has one; of any tenant, and of withheld invoices
   * too.
   */
  seriesNumbersOf(invoiceIds: readonly string[]): Promise<Map<string, SeriesNumber>>;
  /** Reads the pending invoices of a series, by its name, that have no number yet, in the order of creation. */
  awaitingNumber(
    tenantId: string,
    environment: Environment,
    series: string,
    limit: number,
  ): Promise<readonly AwaitingNumber[]>;
}

/** Changes invoices, each by one atomic update. */
export interface InvoiceTransitions {
  /**
   * Writes a change. With a number of the series it takes two round trips, and the number is taken even if the claim
   * turns out to be lost; {@link InvoiceReading.highestSerial} then assigns it again.
   * @returns the claim with the changed invoice
   * @throws {ClaimLost}
   * @throws {NumberTaken}
   */
  change(claim: Claim, change: InvoiceChange, leaseMs: number): Promise<Claim>;
  /**
   * Writes changes of several claims, and the numbers of pending invoices without one, all or none. A single change is
   * written as by {@link change}. Takes two round trips, or three with numbers.
   * @returns the claims with the changed invoices
   * @throws {NumberTaken}
   * @throws {ClaimLost} also if a reserved number's invoice has a number by now
   */
  changeAll(
    changes: readonly (readonly [Claim, InvoiceChange])[],
    leaseMs: number,
    reserved?: readonly ReservedNumber[],
  ): Promise<Claim[]>;
  /**
   * Writes a change of an invoice that no worker holds. Afterwards no worker can take up its earlier work.
   * @returns the changed invoice; null if its status or its work is no longer as the caller read it, or a worker holds
   * it
   */
  changeWaiting(invoice: Invoice, change: Omit<InvoiceChange, 'series'>): Promise<Invoice | null>;
  /** Revokes the current document URLs. @returns the changed invoice; null if the tenant has no invoice with this id */
  raiseDocumentRevision(tenantId: string, environment: Environment, invoiceId: string): Promise<Invoice | null>;
  /** Makes a new mail due. @returns null if the invoice has other work, or another mail was requested since */
  requestEmail(invoice: Invoice, email: InvoiceEmail): Promise<Invoice | null>;
  /**
   * Makes an invoice's work due now, unblocks it and resets its claims. If a run may have ended midway, a transmission
   * starts with a look-up. Takes up to three round trips.
   * @returns false if the invoice has no work or does not exist
   */
  retryNow(invoiceId: string): Promise<boolean>;
  /**
   * Restores the places by age of the invoices that an outage delayed. Work that waits for its next attempt after one
   * of the failures numbered `from` to `to` (inclusive) becomes due, and work that was tried in the outage moves
   * forward. Work that a worker holds or that is blocked is not changed. Takes two round trips; repeating it changes
   * nothing.
   */
  releaseHeldUp(from: number, to: number): Promise<void>;
}

/** Finds the due invoices of lanes and claims many at once. */
export interface InvoiceClaims {
  /**
   * Finds up to `limit` invoices of a lane whose work has been due for at least `lateMs`, ordered by slot and then by
   * due time. Invoices that are not due cost at most one index key per slot, and a tenant has four slots.
   */
  due(lane: Lane, range: PartitionRange, limit: number, lateMs?: number): Promise<DueInvoice[]>;
  /** Counts the unclaimed due work of a lane, up to `limit`, and returns when the oldest became due. */
  backlog(lane: Lane, limit: number): Promise<Backlog>;
  /**
   * Counts the unclaimed live invoices that wait to be sent, by tenant: at most `tenants` of them, each up to `limit`.
   * Takes two round trips for each tenant.
   */
  transmissionsByTenant(
    tenants: number,
    limit: number,
  ): Promise<{ readonly tenantId: string; readonly waiting: number }[]>;
  /**
   * Takes the leases of the invoices among these whose work is due and in this lane. Idle work stops being idle: if the
   * worker dies, it is in `HURRIED_LANE`. Takes two round trips, or one if there is no such invoice.
   * @returns their claims, in no particular order
   */
  claimMany(lane: Lane, invoiceIds: readonly string[], leaseMs: number): Promise<Claim[]>;
  /** Renews leases with one command. Lost leases stay as they are. @returns the number of renewed leases */
  renew(leases: readonly { readonly claim: Claim; readonly leaseMs: number }[]): Promise<number>;
  /** Ends claims whose work was not started. Their work is due at once, and they do not count as claims. */
  release(claims: readonly Claim[]): Promise<void>;
  /**
   * Must be called when the clock was set back, because work scheduled by the earlier clock would wait for the
   * difference, too. Work keeps its delay, counted from `now`. Leases and unpublished events are rescheduled as if they
   * were from now. Takes one round trip for each lane and one for the outbox.
   * @returns the number of invoices changed
   */
  reschedule(now: Date, leaseMs: number): Promise<number>;
}

/** Finds invoices whose work waits: in idle time, for the authority, or for an operator. */
export interface WaitingInvoices {
  /**
   * Finds candidates for {@link attentionOf}: up to `limit` invoices each with the most claims, with the most attempts,
   * and blocked. Takes three round trips.
   */
  needingAttention(limit: number): Promise<Invoice[]>;
  /**
   * Makes the drawing of a PDF due at once, to be queued by the caller. Applies to idle work, which is then no longer
   * idle, and to an attempt that waits after a failure before `failedBefore`, but not while a worker holds the invoice.
   * @returns the changed invoice; null if there is no such work
   */
  hurry(invoiceId: string, failedBefore: Date): Promise<Invoice | null>;
  /** Counts the invoices with idle work, up to `limit`. */
  idleCount(limit: number): Promise<number>;
  /**
   * Counts the live invoices that need the authority, up to `limit`: undecided or without the receipt, also if blocked.
   * Takes four round trips.
   */
  unfinishedLive(limit: number): Promise<number>;
  /** Counts the unsigned live invoices of all tenants except these, up to `limit`. */
  unsignedLive(signers: ReadonlySet<string>, limit: number): Promise<number>;
}

/** The store of invoices. Every method uses an index and takes one round trip unless stated otherwise. */
export interface InvoiceRepository
  extends InvoiceCreation,
    InvoiceReading,
    InvoiceTransitions,
    CreditKeeping,
    InvoiceClaims,
    WaitingInvoices {}

/** An invoice with due work. */
export interface DueInvoice {
  readonly invoiceId: string;
  readonly slot: number;
}
