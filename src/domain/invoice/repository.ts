import type { Problem } from '../authority/ports.ts';
import type { Environment } from '../tenant/tenant.ts';
import type { AuthorityAttempt } from './authority-attempt.ts';
import type { Invoice, InvoiceEvent, StoredDocument, StoredReceipt, Work } from './invoice.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { Lane, PartitionRange } from './lanes.ts';
import type { InvoiceStatus, Stage } from './lifecycle.ts';
import type { AwaitingNumber, InvoicePlace, ReservedNumber, SeriesNumber } from './series-number.ts';

/** The idempotency key as it is stored with the invoice, permanently. */
export interface IdempotencyMark {
  /** 1 to 255 characters, unique within tenant and environment. */
  readonly key: string;
  /** SHA-256 of the parsed body. */
  readonly fingerprint: string;
}

/** A worker's lease on an invoice: valid until it ends or another worker claims the invoice. */
export interface Claim {
  readonly invoice: Invoice;
  readonly token: string;
  /** Known when the claim is made, for the order of the numbers. */
  readonly place?: InvoicePlace;
}

/** Work as a change states it; what is left out is as in `NEW_WORK`. */
export interface NextWork
  extends Pick<Work, 'stage' | 'attempts' | 'outcomeUnknown'>,
    Partial<Pick<Work, 'failures' | 'parked' | 'tried' | 'idle' | 'blocked'>> {}

/** A change that one atomic update writes. */
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
  /** The complete new list. */
  readonly authorityAttempts?: readonly AuthorityAttempt[];
  readonly heldAs?: string;
  /**
   * The next work: run under this claim (`keep`), or due in `in` milliseconds, which ends the claim; null: none. A
   * negative `in` moves parked work forward in the queue; blocked work is not due before an operator retries it.
   */
  readonly work: (NextWork & { readonly in: number; readonly keep: boolean }) | null;
}

/**
 * Another worker holds the lease, or the invoice is not in the state from which the change starts. Nothing was written.
 */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Another invoice has this number. Nothing was written. */
export class NumberTaken extends Error {
  override readonly name = 'NumberTaken';
}

/** Numbers of invoices by their current status. */
export type StatusCounts = Readonly<Record<InvoiceStatus, number>>;

/** A customer as the newest invoice with this name states it. */
export interface KnownCustomer {
  readonly name: string;
  /** 15 digits. */
  readonly ice: string;
}

/** A customer by the key of its name or by its ICE, or an amount in centimes. */
export type InvoiceMatch =
  | { readonly customerKey: string }
  | { readonly customerIce: string }
  | { readonly amount: number };

export interface CustomerQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  /** Whether `prefix` begins the ICE, or the key of the name. */
  readonly field: 'ice' | 'name';
  readonly prefix: string;
  readonly limit: number;
}

/** Invoices of a tenant that were created in a range of time, in UNIX milliseconds. */
export interface CreationRange {
  readonly tenantId: string;
  readonly environment: Environment;
  /** Inclusive. */
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
}

export interface InvoicePageQuery {
  readonly tenantId: string;
  readonly environment: Environment;
  readonly status: InvoiceStatus | null;
  /** 1 to 100. */
  readonly limit: number;
  /** Older (`after`) or newer (`before`) invoices than the one with this order key. */
  readonly cursor: { direction: 'after' | 'before'; order: string } | null;
  /** Only invoices with this value; not with a status, because no index has both. */
  readonly match: InvoiceMatch | null;
  /** UNIX milliseconds, inclusive. */
  readonly createdFrom: number | null;
  /** UNIX milliseconds, exclusive. */
  readonly createdUntil: number | null;
  /**
   * Maximum size of the page's stored invoices in bytes; default 4 MiB. The first invoice is always included.
   */
  readonly maxBytes?: number;
}

export interface InvoicePage {
  /** Newest first. */
  readonly invoices: readonly Invoice[];
  /** Whether there are more in the direction of the query. */
  readonly hasMore: boolean;
  /** Queries whether there are invoices on the other side of the cursor, its own included; false without a cursor. */
  readonly hasOthers: () => Promise<boolean>;
  /** Size of the stored invoices in bytes. */
  readonly bytes: number;
}

/** The backlog of a queue. */
export interface Backlog {
  readonly waiting: number;
  /** Null: nothing waits. */
  readonly oldest: Date | null;
}

/** The backlog of a lane, in all and by stage. */
export interface LaneBacklog extends Backlog {
  /** Of stages that something waits in. */
  readonly stages: readonly { readonly stage: Stage; readonly waiting: number; readonly oldest: Date }[];
}

/** What became of a creation. */
export interface CreationOutcome {
  /** As it is stored. */
  readonly invoice: Invoice;
  /** The mark of an earlier creation with the same idempotency key, which stored the invoice; null if this one did. */
  readonly earlier: IdempotencyMark | null;
}

/** The store of invoices. Every method uses an index and takes one round trip unless stated otherwise. */
export interface InvoiceRepository {
  /**
   * Stores a new invoice whose work is due at once. Two round trips, or five behind another process that created for the
   * same owner since; with a number of the client's own series three more. Those that are stored at the same time share
   * them. With a mark: one more in a store with keys of earlier versions.
   * @param order the key of its place in lists. One that is not higher than those of the owner's stored invoices is
   * raised, and the time of creation with it
   * @param mark of the idempotency key of which the invoice's id is derived; null if the id is random
   * @returns the stored invoice, or the earlier one with this idempotency key
   * @throws {NumberTaken} when another invoice of the tenant and environment has its `ownNumber`
   */
  insert(invoice: Invoice, order: string, mark: IdempotencyMark | null): Promise<CreationOutcome>;
  /**
   * Finds an invoice of any tenant, unless it is withheld because its tenant is erased. All calls in one turn of the event loop share one round trip, and calls for the same
   * invoice in one turn get the same object.
   */
  find(invoiceId: string): Promise<Invoice | null>;
  /** Finds an invoice of any tenant, also one that is withheld, for what operators do with it. */
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
  /**
   * Finds the invoice that was created with the idempotency key from which this id is derived. Two round trips more in
   * a store with keys of earlier versions.
   */
  findCreatedAs(invoiceId: string): Promise<Invoice | null>;
  /** Finds an invoice by its legal number, of the service's or the client's own series. Up to two round trips. */
  findByNumber(tenantId: string, environment: Environment, number: string): Promise<Invoice | null>;
  /** Finds the id of the invoice with this number of the client's own series. */
  findByOwnNumber(tenantId: string, environment: Environment, ownNumber: string): Promise<string | null>;
  /** Finds the order key of a tenant's invoice, for cursors. */
  orderOf(tenantId: string, environment: Environment, invoiceId: string): Promise<string | null>;
  page(query: InvoicePageQuery): Promise<InvoicePage>;
  /** Finds the customers of a tenant by a prefix, in its order. One round trip for each, and one. */
  customers(query: CustomerQuery): Promise<KnownCustomer[]>;
  /** Counts the invoices created in a range of time by their current status. */
  countByStatus(range: CreationRange): Promise<StatusCounts>;
  /** Takes the invoice's lease if its work is due. @returns null if it is not, or another worker holds the lease */
  claim(invoiceId: string, leaseMs: number): Promise<Claim | null>;
  /** @throws {ClaimLost} */
  renew(claim: Claim, leaseMs: number): Promise<void>;
  /** Renews leases by one command. Lost leases stay as they are. */
  renewMany(leases: readonly { readonly claim: Claim; readonly leaseMs: number }[]): Promise<void>;
  /**
   * Writes a change. With a number of the series: two round trips, and the number is taken also if the claim turns out to
   * be lost; then {@link highestSerial} gives it away again. @returns the claim with the changed invoice
   * @throws {ClaimLost} @throws {NumberTaken}
   */
  change(claim: Claim, change: InvoiceChange, leaseMs: number): Promise<Claim>;
  /**
   * Writes changes of several claims, and the numbers of invoices that are pending without one, all or none; a single
   * change as {@link change} does. Two round trips, or three with numbers.
   * @returns the claims with the changed invoices @throws {NumberTaken}
   * @throws {ClaimLost} also if a reserved number's invoice has one by now
   */
  changeAll(
    changes: readonly (readonly [Claim, InvoiceChange])[],
    leaseMs: number,
    reserved?: readonly ReservedNumber[],
  ): Promise<Claim[]>;
  /**
   * Writes a change of an invoice that no worker holds. From here on none can take up the work that it had.
   * @returns the changed invoice; null if its status or its work is no longer as the caller read it, or a worker holds it
   */
  changeWaiting(invoice: Invoice, change: Omit<InvoiceChange, 'series'>): Promise<Invoice | null>;
  /** Revokes the current document URLs. @returns the changed invoice; null if the tenant has none with this id */
  raiseDocumentRevision(tenantId: string, environment: Environment, invoiceId: string): Promise<Invoice | null>;
  /** Makes a new mail due. @returns null if the invoice has other work, or another mail was requested since */
  requestEmail(invoice: Invoice, email: InvoiceEmail): Promise<Invoice | null>;
  /**
   * The highest serial of a series; 0 if it is empty. Two round trips, and up to three more if the process that took the
   * last number did not write it to its invoice: the invoice gets it here, or nobody has it.
   */
  highestSerial(tenantId: string, environment: Environment, year: number): Promise<number>;
  /** The pending invoices of a series that have no number yet, the first created first. */
  awaitingNumber(
    tenantId: string,
    environment: Environment,
    year: number,
    limit: number,
  ): Promise<readonly AwaitingNumber[]>;
  /**
   * Candidates for {@link attentionOf}: up to `limit` invoices with the most claims, up to `limit` with the most
   * attempts, and up to `limit` that are blocked. Three round trips.
   */
  needingAttention(limit: number): Promise<Invoice[]>;
  /**
   * Makes an invoice's work due now, unblocks it and resets its claims. If a run may have ended in the middle, a
   * transmission asks the authority first. Up to three round trips.
   * @returns false if it has no work or does not exist
   */
  retryNow(invoiceId: string): Promise<boolean>;
  /**
   * The oldest parked invoice of the first tenant after `afterTenant` (null: of the first tenant) that has one which is
   * due and not in `except`; null if no further tenant has one.
   */
  nextParked(afterTenant: string | null, except: ReadonlySet<string>): Promise<ParkedInvoice | null>;
  /**
   * Gives the invoices that an outage held up their places by age: makes those due that wait for their next attempt after
   * a failure from `from` to `to` (numbers, inclusive), and moves those forward that were tried in the outage. Leaves
   * those alone that a worker holds, or that are blocked. Two round trips; a further call changes nothing.
   */
  releaseHeldUp(from: number, to: number): Promise<void>;
  /**
   * Makes the drawing of a PDF due at once, for the caller to queue: idle work, which is no longer idle then, or an attempt
   * that waits after a failure before `failedBefore`. Not while a worker holds the invoice.
   * @returns the changed invoice; null if there is no such work
   */
  hurry(invoiceId: string, failedBefore: Date): Promise<Invoice | null>;
  /** Due work of a lane that no worker has: how much, counted up to `limit`, and since when the oldest of it waits. */
  backlog(lane: Lane, limit: number): Promise<LaneBacklog>;
  /** Number of invoices with idle work, counted up to `limit`. */
  idleCount(limit: number): Promise<number>;
  /** Number of parked invoices, counted up to `limit`. */
  parkedCount(limit: number): Promise<number>;
  /**
   * Number of live invoices that need the authority: not decided, or without the receipt; also parked and blocked ones.
   * Counted up to `limit`. Four round trips.
   */
  unfinishedLive(limit: number): Promise<number>;
  /** Number of live invoices to be signed of tenants other than these, counted up to `limit`. */
  unsignedLive(signers: ReadonlySet<string>, limit: number): Promise<number>;
  /**
   * Number of parked invoices by tenant: at most `tenants` of them, each counted up to `limit`. Two round trips for each
   * tenant.
   */
  parkedByTenant(tenants: number, limit: number): Promise<{ readonly tenantId: string; readonly waiting: number }[]>;
  /**
   * Up to `limit` invoices of a lane whose work has been due for `lateMs` or longer, ordered by slot and within one by
   * the time since when it is due. Invoices that are not due cost at most one index key a slot: four a tenant.
   */
  due(lane: Lane, range: PartitionRange, limit: number, lateMs?: number): Promise<DueInvoice[]>;
  /**
   * Takes the leases of those invoices whose work is due and in this lane. Idle work is idle no longer: if the worker
   * dies, its lane is `HURRIED_LANE`. Two round trips, or one if there is none.
   * @returns their claims, in no particular order
   */
  claimMany(lane: Lane, invoiceIds: readonly string[], leaseMs: number): Promise<Claim[]>;
  /** Ends claims with which nothing was begun: their work is due at once, and they do not count as claims. */
  handBack(claims: readonly Claim[]): Promise<void>;
  /**
   * To be called when the clock was set back: work whose time was computed by the later clock would wait for as long as
   * the clock was ahead. It keeps its delay, counted from `now`; leases and unpublished events become due as if they were
   * of now. One round trip for each lane and one for the outbox.
   * @returns the number of invoices changed
   */
  reschedule(now: Date, leaseMs: number): Promise<number>;
}

/** An invoice with due work. */
export interface DueInvoice {
  readonly invoiceId: string;
  readonly slot: number;
}

/** An invoice that waits for the dispatcher of live transmissions. */
export interface ParkedInvoice {
  readonly invoiceId: string;
  readonly tenantId: string;
}

/** A byte range of a document, both ends inclusive. */
export interface DocumentRange {
  readonly first: number;
  readonly last: number;
}

/** The store of document bytes. */
export interface DocumentStore {
  put(bytes: Uint8Array, name: string, contentType: string): Promise<StoredDocument>;
  /** Reads the whole document. It fits in memory, because the service limits the size of documents. */
  get(document: StoredDocument): Promise<Uint8Array>;
  /** Streams the document or a part of it from the store. */
  read(document: StoredDocument, range?: DocumentRange): AsyncIterable<Uint8Array>;
}

/** The next work of an invoice. Each retry of a stage is separate work. */
export interface PendingWork {
  readonly invoiceId: string;
  readonly environment: Environment;
  readonly stage: Stage;
  /** {@link Work.since} */
  readonly since: Date;
}

/** The fields of an invoice that decide which worker takes up its work. */
export type QueuedInvoice = Pick<Invoice, 'id' | 'tenantId' | 'environment' | 'work'>;

/** Wakes workers. Losing a call is harmless: the claimer finds the invoice. */
export interface StageQueue {
  /** Queues the invoice's pending work once, however often it is called. @param inMs delay in milliseconds */
  enqueue(invoice: QueuedInvoice, inMs: number): Promise<void>;
}

/** A stored change of an invoice, made by any process. */
export interface InvoiceNews {
  readonly invoiceId: string;
  readonly events: readonly InvoiceEvent[];
  /** Whether it stored a document of the accepted invoice. */
  readonly documentStored: boolean;
  /** Whether nobody may read the invoice any more, because its tenant is erased. */
  readonly withheld?: boolean;
}

/** Feeds changes from the store: one change stream for each process, whatever the number of listeners. */
export interface InvoiceFeed {
  /**
   * Calls `listener` for each later change of this invoice. After a gap (such as a lost connection) events may repeat
   * but none is missed: listeners compare sequence numbers.
   * @returns a function that ends the subscription
   */
  subscribe(invoiceId: string, listener: (news: InvoiceNews) => void): () => void;
}
