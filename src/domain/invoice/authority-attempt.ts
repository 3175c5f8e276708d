export const ATTEMPT_PURPOSES = ['submit', 'look_up'] as const;
/** To submit the invoice, or to look up whether it is held and what was decided. */
export type AttemptPurpose = (typeof ATTEMPT_PURPOSES)[number];

export const ATTEMPT_OUTCOMES = ['received', 'accepted', 'rejected', 'not_received', 'unknown'] as const;
/** What the authority answered: it holds the invoice undecided, has decided, does not hold it; `unknown`: nothing that could be used. */
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** One call of the tax authority, as the invoice keeps it. */
export interface AuthorityAttempt {
  /** When it was begun. */
  readonly at: Date;
  readonly purpose: AttemptPurpose;
  readonly outcome: AttemptOutcome;
  /** The authority's words, or what became of the call: at most 500 characters. Null where the outcome says it all. */
  readonly message: string | null;
}
