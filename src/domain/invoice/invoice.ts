import type { Problem } from '../authority/ports.ts';
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
 * The central resource (docs/api/contract.md, "Invoice") as the use cases see it: the fields of the contract and those
 * of processing. `terms` are the ones stated at creation; `termsOf` adds those of the profile.
 */
export interface Invoice extends Stored<typeof INVOICE> {
  readonly tenantId: string;
  /** Copy of the seller's profile at creation: later changes of the profile never alter a document. */
  readonly seller: Partial<SellerProfile>;
  /** The client's own number, stated at creation; null if the service numbers the invoice. */
  readonly ownNumber: string | null;
  /** The outbox: one entry for each event, oldest first, at most one of each type. */
  readonly events: readonly InvoiceEvent[];
  /** The signed XML, after it is stored: what is sent to the authority. */
  readonly xml: StoredDocument | null;
  /** The PDF, after it is rendered. */
  readonly pdf: StoredDocument | null;
  /** Part of the document URLs, from 0: raising it revokes the earlier ones. */
  readonly documentRevision: number;
  /** State of the mail to the customer; null before the first attempt. */
  readonly email: InvoiceEmail | null;
  /** Calls to the tax authority with their answers, oldest first: the first and the last ones (`recorded`). */
  readonly authorityAttempts: readonly AuthorityAttempt[];
  /** The id under which the authority holds it, where that is not its own. */
  readonly heldAs: string | null;
  /** Why the authority rejected it; empty if it did not. */
  readonly problems: readonly Problem[];
  /** Findings of the authority that did not prevent acceptance. */
  readonly authorityWarnings: readonly Problem[];
  /** The authority's receipt of its acceptance, verified. */
  readonly receipt: StoredReceipt | null;
  /** The document that the authority returned for it, which is then the legal one. */
  readonly cleared: StoredDocument | null;
  /** Whether it is accepted and the authority's document is still to come. */
  readonly awaitsCleared: boolean;
  /** The next work; null if there is none. */
  readonly work: Work | null;
  /** Of its creation, in whose trace its processing is recorded; null if that was not traced. Clients never see it. */
  readonly traceparent: string | null;
}

/** The values of an invoice before the authority has answered. The store keeps only values that differ from them. */
export const UNANSWERED = {
  heldAs: null,
  problems: [],
  authorityWarnings: [],
  receipt: null,
  cleared: null,
  awaitsCleared: false,
} as const satisfies Partial<Invoice>;

/** The pending work of an invoice. A worker owns it while it holds the lease (docs/decisions/0006). */
export interface Work {
  readonly stage: Stage;
  /** Number of runs of this stage that were put off because of a failure. */
  readonly attempts: number;
  /** Whether the outcome of an attempt to transmit is unknown: a look-up comes before the next submission. */
  readonly outcomeUnknown: boolean;
  /**
   * The failed attempts to transmit, by their numbers in the circuit breaker (`BreakerState.lastFailure`). Attempts
   * in an outage do not count.
   */
  readonly failures: readonly number[];
  /** Whether it waits for the dispatcher instead of a job: the authority takes no more at the moment. */
  readonly parked: boolean;
  /**
   * Whether it was tried in an outage, at whose end it gets its place by age back: until then it waits behind the others,
   * so that none that always fails keeps them from being tried.
   */
  readonly tried: boolean;
  /** Whether it has no job because nobody waits for it: the PDF that nobody has asked for yet. */
  readonly idle: boolean;
  /** Why nothing happens until an operator retries the invoice; null otherwise. */
  readonly blocked: BlockReason | null;
  /** When a worker may claim it: the time of the next attempt, or the end of the current lease. */
  readonly dueAt: Date;
  /**
   * Number of claims since `since`, the current one included. If there is no current one, each ended by a defect or a
   * dead worker.
   */
  readonly claims: number;
  /** Time of the last progress or of the last attempt that was put off. */
  readonly since: Date;
}

/** The values that the work of a stage begins with. */
export const NEW_WORK = {
  attempts: 0,
  outcomeUnknown: false,
  failures: [],
  parked: false,
  tried: false,
  idle: false,
  blocked: null,
} as const satisfies Partial<Work>;

/** `digest_mismatch`: the authority holds another document under the invoice's id. */
export type BlockReason = 'digest_mismatch';

/**
 * An event of an invoice, written in the same update as the change itself. Timestamps are shown in whole seconds and
 * stored in milliseconds.
 */
export interface InvoiceEvent {
  /** Prefix evt_; the receivers' deduplication key. */
  readonly id: string;
  /** 1, 2, 3… within the invoice. */
  readonly sequence: number;
  readonly type: EventType;
  /** The invoice's status right after the event. */
  readonly status: InvoiceStatus;
  readonly dgiId: string | null;
  readonly rejectionReason: string | null;
  readonly at: Date;
}

/** When the status began that the invoice had right after this event. */
export function statusSince({ createdAt, events }: Pick<Invoice, 'createdAt' | 'events'>, event: InvoiceEvent): Date {
  if (statusOfEvent(event.type) !== null) return event.at;
  const change = events.findLast(({ type, sequence }) => sequence < event.sequence && statusOfEvent(type) !== null);
  return change?.at ?? createdAt;
}

/** Reference to a document in the document store. */
export interface StoredDocument {
  readonly file: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly size: number;
}

/** The authority's receipt, after it was verified. */
export interface StoredReceipt extends StoredDocument {
  /** When the authority decided, as the receipt states. */
  readonly decidedAt: Date;
}
