import type { CreditReason, Original } from './credit.ts';

/** The data that an invoice states of the invoice that it replaces. */
export interface Replaces {
  /** The replaced invoice, as the documents name it. */
  readonly invoice: Replaced;
  readonly reason: CreditReason;
  /** The reason in words; null if only the code was given. */
  readonly note: string | null;
  /**
   * The accepted invoice that is credited: the replaced invoice, or the invoice that it corrected; null if there is
   * none.
   */
  readonly credited: {
    readonly invoiceId: string;
    /** The credit note of what was left of it, without which this invoice is not issued; null if nothing was left. */
    readonly creditNoteId: string | null;
  } | null;
}

/** The replaced invoice at that time. It was accepted or rejected, so none of this changes any more. */
export interface Replaced extends Omit<Original, 'id' | 'number'> {
  readonly id: string;
  /** Null if it was rejected before it got one. */
  readonly number: string | null;
}

/** The link to the invoice that replaces this one. */
export interface KeptReplacement {
  readonly invoiceId: string;
  readonly at: Date;
  /** Counts the changes of the link: 1, 2, 3… */
  readonly version: number;
}
