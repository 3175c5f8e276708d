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
 * The amounts that a credit note takes from its invoice, all positive. The VAT is computed on the common base of the
 * credit notes, so that the VAT of all credit notes is exactly that of the invoice. The VAT of a single one may differ
 * from base × rate by rounding.
 */
export interface CreditShare {
  /** One entry for each rate, highest rate first. */
  readonly rates: readonly RateTotal[];
  /** The amount credited, tax included. */
  readonly amount: Centimes;
}

/** An invoice's record of the share of a credit note, or of the final invoice that deducts it as a deposit. */
export interface KeptCredit extends CreditShare {
  /** The credit note, or the final invoice if this is a deduction (`isDeduction`). */
  readonly creditNoteId: string;
  readonly at: Date;
  /**
   * The invoice that needs the credit note (`replaceInvoice`); absent if the credit note does not belong to a
   * replacement.
   */
  readonly replacingId?: string;
  /**
   * The accepted final invoice that deducted the deposit before, and that this one replaces; absent if there is none.
   */
  readonly insteadOf?: string;
}

/** An invoice's record of its credit notes and of the invoices that deduct it. */
export interface KeptCredits {
  /** Number of changes of the list. */
  readonly version: number;
  readonly list: readonly KeptCredit[];
}

export const NO_CREDITS: KeptCredits = { version: 0, list: [] };

/** The parts that only a credit note has. */
export interface Credit extends CreditShare {
  readonly original: Original;
  readonly reason: CreditReason;
  /** The reason in words; null if only the code was given. */
  readonly note: string | null;
}
