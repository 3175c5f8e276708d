import type { KeptCredit } from './credit.ts';
import type { Invoice } from './invoice.ts';
import type { KeptReplacement } from './replacement.ts';
import type { RateTotal } from './tax-rate.ts';

/** What decides whether the share of a credit note or of a final invoice, or the link to a replacing invoice, counts. */
export interface CorrectionState extends Pick<Invoice, 'status' | 'rejectionReason'> {
  /** The invoice that a credit note corrects; null for one of another system, and for an invoice. */
  readonly originalId: string | null;
  /** The invoice that an invoice replaces, and the credit note that is made for it; null if it replaces none. */
  readonly replaces: { readonly invoiceId: string; readonly creditNoteId: string | null } | null;
  /** The deposits that a final invoice deducts, its totals less these, and its credit notes; null if it has none. */
  readonly deduction: {
    readonly depositIds: readonly string[];
    readonly rates: readonly RateTotal[];
    readonly credits: readonly Pick<KeptCredit, 'creditNoteId' | 'rates'>[];
  } | null;
}

/** Keeps with an invoice the shares that other documents take from it, and the link to the invoice that replaces it. */
export interface CreditKeeping {
  /**
   * Replaces the list of kept credits. The next version is `version + 1`.
   * @returns false if the invoice's credits are not of this version any more, or it is not an accepted invoice
   */
  keepCredits(
    invoice: Pick<Invoice, 'id' | 'tenantId' | 'environment'>,
    version: number,
    list: readonly KeptCredit[],
  ): Promise<boolean>;
  /**
   * Writes the link to the invoice that replaces this one.
   * @returns false if the link changed since the invoice was read, or it is not an accepted or rejected invoice
   */
  keepReplacement(
    invoice: Pick<Invoice, 'id' | 'tenantId' | 'environment' | 'replacedBy'>,
    link: Omit<KeptReplacement, 'version'>,
  ): Promise<boolean>;
  /** Returns the state of each of these credit notes and invoices that is stored. */
  correctionStatesOf(ids: readonly string[]): Promise<Map<string, CorrectionState>>;
}
