import type { KeptCredit } from './credit.ts';
import type { Invoice } from './invoice.ts';
import type { KeptReplacement } from './replacement.ts';
import type { RateTotal } from './tax-rate.ts';

/** The state of a document that decides whether its share of another invoice, or its link to a replaced one, counts. */
export interface CorrectionState extends Pick<Invoice, 'status' | 'rejectionReason'> {
  /**
   * The invoice that a credit note corrects; null for an invoice of another system, and if the document is no credit
   * note.
   */
  readonly originalId: string | null;
  /** The invoice that this invoice replaces, and the credit note made for that; null if it replaces none. */
  readonly replaces: { readonly invoiceId: string; readonly creditNoteId: string | null } | null;
  /**
   * The deposits that a final invoice deducts, its totals less the deposits, and its credit notes; null if it deducts
   * none.
   */
  readonly deduction: {
    readonly depositIds: readonly string[];
    readonly rates: readonly RateTotal[];
    readonly credits: readonly Pick<KeptCredit, 'creditNoteId' | 'rates'>[];
  } | null;
}

/** Stores in an invoice the shares that other documents take from it, and the link to the invoice that replaces it. */
export interface CreditKeeping {
  /**
   * Replaces the list of kept credits. The next version is `version + 1`.
   * @returns false if the invoice's credits no longer have this version, or the invoice is not accepted
   */
  keepCredits(
    invoice: Pick<Invoice, 'id' | 'tenantId' | 'environment'>,
    version: number,
    list: readonly KeptCredit[],
  ): Promise<boolean>;
  /**
   * Writes the link to the invoice that replaces this one.
   * @returns false if the link changed since the invoice was read, or the invoice is neither accepted nor rejected
   */
  keepReplacement(
    invoice: Pick<Invoice, 'id' | 'tenantId' | 'environment' | 'replacedBy'>,
    link: Omit<KeptReplacement, 'version'>,
  ): Promise<boolean>;
  /** Returns the states of those of these credit notes and invoices that are stored. */
  correctionStatesOf(ids: readonly string[]): Promise<Map<string, CorrectionState>>;
}
