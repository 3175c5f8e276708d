/** A finding of the authority about a document. */
export interface Problem {
  /** The authority's code, such as `ice_unknown`. */
  readonly code: string;
  /** The part of the document that it is about; null if it is about the whole. */
  readonly path: string | null;
  /** In French, for the seller. */
  readonly message: string;
}

/** A document to register with the authority. The same `submissionId` and digest always identify one submission. */
export interface Submission {
  /** The invoice's id: the authority's idempotency key. */
  readonly submissionId: string;
  /** Null if the customer has none. */
  readonly customerIce: string | null;
  /** Digest of `document`, lower-case hex. */
  readonly sha256: string;
  readonly document: Uint8Array;
}

export type Decision =
  | { readonly outcome: 'accepted'; readonly dgiId: string; readonly decidedAt: Date }
  | { readonly outcome: 'rejected'; readonly problems: readonly Problem[]; readonly decidedAt: Date };

/** Proof that the authority holds a document; `decision` is null while it is being examined. */
export interface HeldSubmission {
  /**
   * The id under which the authority holds it: the invoice's, or that of an earlier submission of the same document.
   */
  readonly submissionId: string;
  readonly decision: Decision | null;
  /** Findings that do not prevent acceptance. */
  readonly warnings: readonly Problem[];
  /** The authority's hint when to ask for the decision again, in milliseconds from now. */
  readonly askAgainAfter: number | null;
}

/** The facts that every answer states about its call. */
interface Called {
  /** The id that the request carried; null if none was sent. */
  readonly requestId: string | null;
}

interface Held extends Called {
  readonly kind: 'held';
  readonly submission: HeldSubmission;
}

/** Whether the authority holds the document is unknown: a look-up comes before the next submission. */
export interface Unknown extends Called {
  readonly kind: 'unknown';
  readonly message: string;
  /** How long the authority asked to wait, milliseconds. */
  readonly retryAfterMs: number | null;
  /** Set if nothing was asked: the client kept the look-up back to stay within the authority's limits. */
  readonly deferred?: true;
  /**
   * Set if the authority itself refused the call by a limit (429): it is not away, however long this call must wait.
   */
  readonly rateLimited?: true;
  /** Of a look-up by id that found another document: its digest, lower-case hex. It is not believed as ours. */
  readonly heldDigest?: string;
}

/**
 * Why the authority certainly does not hold the document.
 * `counts`: whether it is one of the invoice's attempts. `isFailure`: whether it is a failure for the circuit breaker,
 * which, if it opens, uncounts the attempts of its failures.
 */
export const NOT_HELD = {
  /** No connection: refused, DNS, TLS. */
  unreachable: { counts: true, isFailure: true },
  /** 503 `unavailable`. */
  unavailable: { counts: true, isFailure: true },
  /** The token endpoint gave no token. */
  no_token: { counts: true, isFailure: true },
  /** 401 with a new token. */
  token_refused: { counts: true, isFailure: true },
  /** 403: operators must act. */
  forbidden: { counts: true, isFailure: true },
  /** 429: nothing may be sent for `retryAfterMs`. */
  rate_limited: { counts: false, isFailure: false },
  /** The client kept the call back to stay within the authority's limits. */
  deferred: { counts: false, isFailure: false },
} as const;
export type NotHeldReason = keyof typeof NOT_HELD;

interface NotHeld extends Called {
  readonly kind: 'not_held';
  readonly reason: NotHeldReason;
  readonly message: string;
  /** How long to wait at least, milliseconds; null if the authority did not say. */
  readonly retryAfterMs: number | null;
}

/** The outcomes of a submission. */
export type SubmitAnswer =
  | Held
  | NotHeld
  | Unknown
  /** Not held, and will not be as it is: a defect of this service, or a limit of the authority. */
  | (Called & { readonly kind: 'refused'; readonly code: string; readonly message: string })
  /** This document's number is held under another id with another document. `original`: that id. */
  | (Called & { readonly kind: 'duplicate'; readonly original: string })
  /** The invoice's id is held with another document. Operators must act. @property heldDigest lower-case hex */
  | (Called & { readonly kind: 'digest_mismatch'; readonly heldDigest: string | null });

/** The outcomes of a look-up. `absent`: the authority does not hold the document. */
export type LookUpAnswer = Held | Unknown | (Called & { readonly kind: 'absent' });

/** The authority's own signed statement about a decision, after its signature was verified. */
export interface AuthorityReceipt {
  readonly document: Uint8Array;
  readonly submissionId: string;
  readonly dgiId: string;
  /** Digest of the document that was decided on, lower-case hex. */
  readonly sha256: string;
  readonly status: 'accepted' | 'rejected';
  readonly decidedAt: Date;
}

/** `invalid`: it was fetched, and its signature or form is wrong. */
export type ReceiptAnswer =
  | (Called & { readonly kind: 'receipt'; readonly receipt: AuthorityReceipt })
  | (Called & { readonly kind: 'absent' })
  | (Called & { readonly kind: 'invalid'; readonly message: string })
  | Unknown;

export type ClearedAnswer =
  | (Called & { readonly kind: 'document'; readonly document: Uint8Array })
  | (Called & { readonly kind: 'absent' })
  | Unknown;

/** A decision in the authority's ledger. */
export interface LedgerEntry {
  readonly submissionId: string;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly decision: Decision;
}

export type ChangesAnswer =
  | (Called & {
      readonly kind: 'changes';
      /** In the order in which the decisions were taken. */
      readonly entries: readonly LedgerEntry[];
      readonly nextCursor: string;
      /** The cursor of the latest decision: the end is reached when `nextCursor` equals it. */
      readonly highWaterMark: string;
    })
  | Unknown;

/** The abilities of the authority, and the limits that it sets. */
export interface Capabilities {
  readonly decision: 'synchronous' | 'polling' | 'callback';
  readonly lookUp: readonly ('id' | 'digest')[];
  /** Whether an accepted invoice has a cleared document, which is then the legal one. */
  readonly clearedDocument: boolean;
  readonly maxDocumentBytes: number;
  readonly limits: {
    readonly submissionsPerMinute: number;
    readonly lookUpsPerMinute: number;
    readonly lookUpsPerSubmissionPerHour: number;
    /** Submissions under way at the same time. */
    readonly concurrent: number;
  };
}

/** Identifies a receipt. Authorities look it up by one of both. */
export interface ReceiptPlace {
  readonly dgiId: string;
  readonly submissionId: string;
}

/**
 * The tax authority, live or mock. No method throws for a failure of the authority or the network: each answer says
 * what is known. A method throws only on a defect of this service.
 */
export interface Authority {
  /** Returns the capabilities as last read; conservative values before that. */
  capabilities(): Capabilities;
  /** Submits once. After `unknown` it is called again only after {@link lookUp} has answered `absent`. */
  submit(submission: Submission): Promise<SubmitAnswer>;
  /** Looks up the submission with this id. A held submission with another digest is `unknown`, with that digest. */
  lookUp(submission: Pick<Submission, 'submissionId' | 'sha256'>): Promise<LookUpAnswer>;
  /**
   * Fetches and verifies the signed receipt of an acceptance.
   * @param of its identifier, and the id under which the authority holds the submission
   */
  receipt(of: ReceiptPlace): Promise<ReceiptAnswer>;
  /** Fetches the cleared document. @param submissionId the id under which the authority holds the submission */
  cleared(submissionId: string): Promise<ClearedAnswer>;
  /** Reads the ledger from a cursor on; null: from its start. @param limit 1 to 1000 */
  changes(after: string | null, limit: number): Promise<ChangesAnswer>;
  /** Tries the connection without any submission. @returns null if the authority answers, otherwise why it does not */
  probe(): Promise<string | null>;
}

/** The mock authority's durable ledger, with one row for each submission that it holds. */
export interface SubmissionLedger {
  /** Stores the row unless its id exists, and returns the stored row; one atomic step. */
  record(row: LedgerRow): Promise<LedgerRow>;
  find(submissionId: string): Promise<LedgerRow | null>;
  /**
   * Returns up to `limit` rows that were decided until `until`, in the order of their decisions (and of their ids where
   * those were taken at the same time), after the given place; null: from the first.
   */
  decided(after: LedgerPlace | null, until: Date, limit: number): Promise<LedgerRow[]>;
  /** Returns the place of the latest row that was decided until `until`; null if there is none. */
  latest(until: Date): Promise<LedgerPlace | null>;
  /** Counts a refused (503) attempt durably. @returns the number of refused attempts, this one included */
  countRefusal(submissionId: string): Promise<number>;
}

/** The place of a row in the order of decisions. */
export interface LedgerPlace {
  readonly decisionAt: Date;
  readonly submissionId: string;
}

export interface LedgerRow extends LedgerPlace {
  readonly sha256: string;
  readonly receivedAt: Date;
  /** When the receipt becomes visible; the decision does at `decisionAt`. */
  readonly receiptAt: Date;
  readonly decision: Decision;
}
