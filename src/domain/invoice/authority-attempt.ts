/**
 * The purpose of a call. `submit` submits the invoice. `look_up` queries whether the authority holds it and what it
 * decided. `receipt` and `cleared` fetch the receipt or the cleared document.
 */
export type AttemptPurpose = 'submit' | 'look_up' | 'receipt' | 'cleared';

/**
 * The answer to a call. The authority holds the invoice undecided (`received`), has decided, does not accept it
 * (`refused`), holds another document under its id (`conflict`), or does not hold it. A document was `fetched`, is
 * `not_available`, or is wrong (`invalid`). `unknown` means that there was no usable answer.
 */
export type AttemptOutcome =
  | 'received'
  | 'accepted'
  | 'rejected'
  | 'refused'
  | 'conflict'
  | 'not_received'
  | 'fetched'
  | 'not_available'
  | 'invalid'
  | 'unknown';

/** One call to the tax authority, as stored with the invoice. */
export interface AuthorityAttempt {
  /** When the call began. */
  readonly at: Date;
  readonly purpose: AttemptPurpose;
  readonly outcome: AttemptOutcome;
  /**
   * The authority's message, or why the call failed: at most 500 characters. Null if the outcome needs no explanation.
   */
  readonly message: string | null;
  /** How long the call took, in milliseconds. */
  readonly milliseconds: number;
  /** The id that the request carried; null if none was sent. */
  readonly requestId: string | null;
}
