import { type Problem, ServiceError } from '../errors.ts';
import { problemsOf } from '../input-problems.ts';
import type { Call, UseCase } from '../use-case.ts';
import type { CreditShare } from './credit.ts';
import { creditable, creditInvoiceInput, requestOf } from './credit-invoice.ts';
import type { CreditKeeping } from './credit-keeping.ts';
import type { InvoiceReading } from './repository.ts';
import { previewCredit } from './take-credit.ts';

/** The share that a credit note would take from its invoice. */
export interface CreditPreview {
  /** Null if the credit note would be refused. */
  readonly share: CreditShare | null;
  /** Why it would be refused: the invoice's status, the structure or the amounts; empty if it would not be refused. */
  readonly problems: readonly Problem[];
}

interface PreviewNeeds {
  readonly invoices: Pick<InvoiceReading, 'find'> & Pick<CreditKeeping, 'correctionStatesOf'>;
}

/**
 * Computes the share that `creditInvoice` would credit now, by the same rules. Nothing is stored, so another credit
 * note may take the amount meanwhile. Accepts any value as input; a complete input is one that {@link
 * creditInvoiceInput} accepts.
 * @throws {ServiceError} resource_not_found
 */
export const creditPreview = {
  scope: 'read',
  async run(
    { invoices }: PreviewNeeds,
    { by: owner }: Call,
    invoiceId: string,
    input: unknown,
  ): Promise<CreditPreview> {
    const original = await creditable(invoices, owner, invoiceId).catch((error: unknown) => {
      if (error instanceof ServiceError && error.code === 'invoice_not_accepted') return error;
      throw error;
    });
    if (original instanceof ServiceError) return { share: null, problems: original.problems };
    const parsed = creditInvoiceInput.safeParse(input);
    if (!parsed.success) return { share: null, problems: problemsOf(parsed.error) };
    const made = await previewCredit(invoices, original, requestOf(parsed.data, owner), new Date());
    return 'problems' in made ? { share: null, problems: made.problems } : { share: made.share, problems: [] };
  },
} as const satisfies UseCase;
