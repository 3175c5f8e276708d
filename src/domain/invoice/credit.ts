import type { Centimes } from '../money.ts';
import type { RateTotal } from './tax-rate.ts';

/** Why an invoice is credited. The texts for documents are in `src/text/credit-reasons.ts`. */
export const CREDIT_REASONS = {
  error: 'The invoice was wrong.',
  return: 'Goods were returned.',
  cancellation: 'The sale was cancelled.',
  discount: 'A discount was granted after the invoice.',
  other: 'Another reason, stated in words.',
} as const satisfies Readonly<Record<string, string>>;

export type CreditReason = keyof typeof CREDIT_REASONS;

/** The invoice that a credit note corrects, as the credit note's documents name it. */
export interface Original {
  /** The invoice's id; null if this service did not issue it. */
  readonly id: string | null;
  /** Its legal number. */
  readonly number: string;
  /** Its calendar date in Africa/Casablanca, `YYYY-MM-DD`. */
  readonly issueDate: string;
  /** The authority's identifier; null if it is not known. */
  readonly dgiId: string | null;
}

/**
 * The amounts that a credit note takes from its invoice, all positive. VAT is that of the credit notes' common base, so
 * that the credit notes of an invoice add up to exactly its VAT. It may differ from base × rate by rounding.
 */
export interface CreditShare {
  /** One entry for each rate, highest rate first. */
  readonly rates: readonly RateTotal[];
  /** The amount credited, tax included. */
  readonly amount: Centimes;
}

/** The share that a credit note takes, or the final invoice that deducts a deposit, as the invoice keeps it. */
export interface KeptCredit extends CreditShare {
  /** The credit note. A deduction has the final invoice here: see `isDeduction`. */
  readonly creditNoteId: string;
  readonly at: Date;
  /** The invoice for which the credit note is made (`replaceInvoice`); absent if it is made for itself. */
  readonly replacingId?: string;
  /** The accepted final invoice whose deduction passes to the one that replaces it; absent if there is none. */
  readonly insteadOf?: string;
}

/** What an invoice keeps of its credit notes and of the invoices that deduct it. */
export interface KeptCredits {
  /** Counts the changes of the list; 0 if there was none. */
  readonly version: number;
  readonly list: readonly KeptCredit[];
}

export const NO_CREDITS: KeptCredits = { version: 0, list: [] };

/** What only a credit note has. */
export interface Credit extends CreditShare {
  readonly original: Original;
  readonly reason: CreditReason;
  /** The reason in words; null if only the code was given. */
  readonly note: string | null;
}
