import type { Problem } from '../authority/ports.ts';
import { type EventType, statusOfEvent } from '../event.ts';
import type { SellerProfile } from '../tenant/tenant.ts';
import type { AuthorityAttempt } from './authority-attempt.ts';
import type { Credit, KeptCredits } from './credit.ts';
import type { CUSTOMER } from './customer-fields.ts';
import type { Deduction } from './deduction.ts';
import type { Stored } from './field-table.ts';
import type { INVOICE } from './fields.ts';
import type { InvoiceEmail } from './invoice-email.ts';
import type { Kind } from './kinds.ts';
import type { InvoiceStatus, Stage } from './lifecycle.ts';
import type { INVOICE_LINE } from './line-fields.ts';
import type { KeptReplacement, Replaces } from './replacement.ts';

export interface Customer extends Stored<typeof CUSTOMER> {}

export interface InvoiceLine extends Stored<typeof INVOICE_LINE> {}

/**
 * The central resource (docs/api/contract.md, "Invoice") as the use cases see it: the fields of the contract and those
 * of processing. Credit notes are the same record with another `kind`. `terms` contains only the terms stated at
 * creation; `termsOf` adds those of the profile.
 */
export interface Invoice extends Stored<typeof INVOICE> {
  readonly tenantId: string;
  readonly kind: Kind;
  /** The parts that only a credit note has; null for an invoice. */
  readonly credit: Credit | null;
  /** The parts that only a final invoice has, which deducts deposits; null if it deducts none. */
  readonly deduction: Deduction | null;
  /** The shares that credit notes take from it and, for a deposit, that of the final invoice that deducts it. */
  readonly credits: KeptCredits;
  /** The invoice that it replaces; null if it replaces none. */
  readonly replaces: Replaces | null;
  /** The invoice that replaces it, or is about to; null if there is none. */
  readonly replacedBy: KeptReplacement | null;
  /** A copy of the seller's profile at creation, so that later changes of the profile never alter a document. */
  readonly seller: Partial<SellerProfile>;
  /** The client's own number, stated at creation; null if the service numbers the invoice. */
  readonly ownNumber: string | null;
  /** The outbox: the events, oldest first, at most one of each type. */
  readonly events: readonly InvoiceEvent[];
  /** The signed XML that is sent to the authority; null until it is stored. */
  readonly xml: StoredDocument | null;
  /** The PDF; null until it is rendered. */
  readonly pdf: StoredDocument | null;
  /** Part of the document URLs, starting at 0. Raising it revokes the earlier URLs. */
  readonly documentRevision: number;
  /** State of the mail to the customer; null before the first attempt. */
  readonly email: InvoiceEmail | null;
  /**
   * Calls to the tax authority with their answers, oldest first. Only the first and the last ones are kept
   * (`recorded`).
   */
  readonly authorityAttempts: readonly AuthorityAttempt[];
  /** The id under which the authority holds the invoice, if it is not the invoice's own id. */
  readonly heldAs: string | null;
  /** Why the authority rejected it; empty if it did not. */
  readonly problems: readonly Problem[];
  /** Findings of the authority that did not prevent acceptance. */
  readonly authorityWarnings: readonly Problem[];
  /** The authority's receipt of its acceptance, verified. */
  readonly receipt: StoredReceipt | null;
  /** The document that the authority returned for the invoice, which is then the legal one. */
  readonly cleared: StoredDocument | null;
  /** Whether the invoice is accepted and the authority's document has not been fetched yet. */
  readonly awaitsCleared: boolean;
  /** The pending work; null if there is none. */
  readonly work: Work | null;
  /**
   * The trace context of the creation, to which the processing is added; null if it was not traced. Clients never see
   * it.
   */
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
  /** Whether the outcome of an attempt to transmit is unknown. A look-up then precedes the next submission. */
  readonly outcomeUnknown: boolean;
  /**
   * The failed attempts to transmit, by their numbers in the circuit breaker (`BreakerState.lastFailure`). Attempts in
   * an outage do not count.
   */
  readonly failures: readonly number[];
  /**
   * Whether the work was tried in an outage. It then waits behind other work until the outage ends, so that an invoice
   * that always fails does not keep the others from being tried. Afterwards it gets its place by age back.
   */
  readonly tried: boolean;
  /** Whether the work has no job because no request waits for it: a PDF that was not requested yet. */
  readonly idle: boolean;
  /** Why nothing happens until an operator retries the invoice; null otherwise. */
  readonly blocked: BlockReason | null;
  /** When a worker may claim it: the time of the next attempt, or the end of the current lease. */
  readonly dueAt: Date;
  /** Number of claims since `since`, including the current one. Each earlier one ended by a defect or a dead worker. */
  readonly claims: number;
  /** Time of the last progress or of the last attempt that was postponed. */
  readonly since: Date;
}

/** The initial values of a stage's work. */
export const NEW_WORK = {
  attempts: 0,
  outcomeUnknown: false,
  failures: [],
  tried: false,
  idle: false,
  blocked: null,
} as const satisfies Partial<Work>;

/** `digest_mismatch`: the authority holds another document under the invoice's id. */
export type BlockReason = 'digest_mismatch';

/**
 * An event of an invoice, written in the same update as the change itself. Its time is stored in milliseconds and shown
 * in whole seconds.
 */
export interface InvoiceEvent {
  /** Prefix evt_. Receivers use it as the deduplication key. */
  readonly id: string;
  /** The number of the event within the invoice: 1, 2, 3… */
  readonly sequence: number;
  readonly type: EventType;
  /** The invoice's status right after the event. */
  readonly status: InvoiceStatus;
  readonly dgiId: string | null;
  readonly rejectionReason: string | null;
  readonly at: Date;
}

/** Returns when the status began that the invoice had right after this event. */
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
