import type { InvoiceStatus } from '../invoice/lifecycle.ts';
import type { LedgerEntry } from './ports.ts';

/** The kinds of differences between the authority's ledger and ours (docs/operations.md, "Nightly reconciliation"). */
export const DIFFERENCES = {
  accepted_by_authority: 'The authority accepted an invoice that is rejected here.',
  rejected_by_authority: 'The authority rejected an invoice that is accepted here.',
  other_digest: 'The authority decided on another document than the one that was signed here.',
  other_dgi_id: 'The authority gave the invoice another identifier than the one stored here.',
  held_twice: 'The authority holds the same document under a second id.',
  unknown_submission: 'The authority decided on a submission that this service does not know.',
  not_in_ledger: 'An invoice is decided here, and the ledger of the authority has no decision.',
  receipt_missing: 'An invoice was accepted more than a day ago, and its signed receipt is not stored.',
} as const;
export type DifferenceKind = keyof typeof DIFFERENCES;
export const DIFFERENCE_KINDS = Object.keys(DIFFERENCES) as DifferenceKind[];

/** A difference that one comparison has found. A submission has at most one of each kind. */
export interface Finding {
  readonly kind: DifferenceKind;
  /** The id under which the authority holds the document. */
  readonly submissionId: string;
  /** Our invoice; null if there is none. */
  readonly invoiceId: string | null;
  readonly tenantId: string | null;
  /** The facts that are stored here, for operators; null if there are none. */
  readonly ours: string | null;
  /** The facts that the ledger states, for operators; null if it states none. */
  readonly theirs: string | null;
}

/** An operator's note that a lasting difference is known, and that everything possible was done. */
export interface Acknowledgement {
  readonly at: Date;
  readonly reason: string;
}

/** A stored difference that is not resolved. It is open unless it is acknowledged. */
export interface Difference extends Finding {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  /** The acknowledgement of the present facts; null: the difference is open. */
  readonly acknowledged: Acknowledgement | null;
}

/** A live invoice as far as the authority's ledger can tell of it. */
export interface Transmission {
  readonly invoiceId: string;
  readonly tenantId: string;
  /** The id under which the authority holds it: the invoice's own, unless a duplicate was found to be ours. */
  readonly submissionId: string;
  readonly status: InvoiceStatus;
  /** Whether the authority was known to hold the document, so that its final status is the authority's decision. */
  readonly wasHeld: boolean;
  /** Digest of the signed XML, lower-case hex; null before it is signed. */
  readonly sha256: string | null;
  readonly dgiId: string | null;
  /** Time of the last status change. */
  readonly changedAt: Date;
  readonly hasReceipt: boolean;
}

/** The live invoices, read by what the ledger knows of them. Every method uses an index. */
export interface TransmissionReader {
  /**
   * Finds the invoices that have one of these ids, or that the authority holds under one of them. Two queries at once.
   */
  bySubmission(submissionIds: readonly string[]): Promise<Transmission[]>;
  /** Finds the invoices whose signed XML has one of these digests. One query. */
  byDigest(digests: readonly string[]): Promise<Transmission[]>;
  /**
   * Invoices that the authority held and that became final in this time, both ends inclusive, oldest first, in batches.
   */
  decided(from: Date, until: Date): AsyncIterable<readonly Transmission[]>;
}

/** A limit of the look-ups that a hint or the reconciliation may cause for one invoice. */
export interface LookUpRule {
  /** No look-up of the invoice may have begun in this time, milliseconds. */
  readonly quietMs: number;
  /** The invoice must have had fewer look-ups than this in the last hour. */
  readonly mostAnHour: number;
}

/** Our copy of the part of the ledger that was read: the last entry of each submission. */
export interface LedgerCopy {
  /** Stores entries with different ids. @returns the number of those that were stored before with another content */
  keep(entries: readonly LedgerEntry[]): Promise<number>;
  find(submissionIds: readonly string[]): Promise<LedgerEntry[]>;
}

/** Maximum number of stored open differences of one kind; acknowledged ones do not count. */
export const MOST_OF_A_KIND = 1000;

/** The differences that are shown to operators. */
export interface DifferenceRepository {
  /**
   * Stores findings, or notes that they were seen again. An acknowledged one with other facts is open again.
   * @returns those that were not open before, except those that are acknowledged, and how many were left out because
   * {@link MOST_OF_A_KIND} are open
   */
  observe(findings: readonly Finding[], at: Date): Promise<{ fresh: readonly Finding[]; leftOut: number }>;
  /**
   * Returns up to `limit` differences of a kind that are not resolved, acknowledged ones included, after this
   * submission, in the order of their ids.
   */
  unresolved(kind: DifferenceKind, after: string | null, limit: number): Promise<Difference[]>;
  resolve(kind: DifferenceKind, submissionIds: readonly string[], at: Date): Promise<void>;
  /**
   * Acknowledges an open difference with the facts that it has; one that is acknowledged stays as it is. Up to two
   * round trips.
   * @returns it, and whether it was open; null if there is no such difference or it is resolved
   */
  acknowledge(
    kind: DifferenceKind,
    submissionId: string,
    acknowledgement: Acknowledgement,
  ): Promise<{ readonly difference: Difference; readonly isNew: boolean } | null>;
  /** Returns the number of open differences of each kind. */
  count(): Promise<Readonly<Record<DifferenceKind, number>>>;
}

/** The result of a reconciliation. */
export interface ReconciliationRun {
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /**
   * `complete`: the ledger was read to its end; `failed`, `stopped`: what was read is kept, and the next run continues.
   */
  readonly outcome: 'complete' | 'failed' | 'stopped';
  /** Why it failed or stopped; null if it is complete. */
  readonly message: string | null;
  /** Entries of the ledger that were read. */
  readonly entries: number;
  /** Entries that have changed since they were read before. */
  readonly changed: number;
  /** Invoices decided here that were looked for in the ledger. */
  readonly invoices: number;
  /** Undecided invoices that the ledger has decided, and whose look-up was made due. */
  readonly healed: number;
  /** Differences that were not open before, and are not acknowledged. */
  readonly found: number;
  /** Differences that no longer exist. */
  readonly resolved: number;
  /** Differences that were not stored, because too many are open. */
  readonly leftOut: number;
}

/** The progress that a reconciliation starts from. */
export interface ReconciliationProgress {
  /** The ledger was read and compared up to here; null: from its start. */
  readonly cursor: string | null;
  /** Invoices that became final up to here were looked for in the ledger; null: none. */
  readonly checkedUntil: Date | null;
  /** Number of runs in a row that could not read a single page. */
  readonly stalled: number;
}

/** A reconciliation under its lease. */
export interface BegunReconciliation {
  /** Proves the lease. */
  readonly token: string;
  /** The progress of the runs before. */
  readonly progress: ReconciliationProgress;
}

/** The stored state of reconciliation, with a lease: one process at a time reconciles. */
export interface ReconciliationState {
  /** Takes the lease. @returns null if another process holds it */
  begin(leaseMs: number): Promise<BegunReconciliation | null>;
  /** Extends the lease and stores progress. @throws {ReconciliationBusy} when the lease was lost */
  advance(token: string, leaseMs: number, progress: Partial<ReconciliationProgress>): Promise<void>;
  /** Stores the result and ends the lease; does nothing if the lease was lost. */
  end(token: string, run: ReconciliationRun, progress: Partial<ReconciliationProgress>): Promise<void>;
  /** Ends the lease without a result. */
  release(token: string): Promise<void>;
  /** Returns the last run that ended; null if none has. */
  last(): Promise<ReconciliationRun | null>;
}

/** Another process reconciles at the moment. */
export class ReconciliationBusy extends Error {
  override readonly name = 'ReconciliationBusy';
}
