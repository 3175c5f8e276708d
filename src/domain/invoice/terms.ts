import { hasBankAccountKey } from '../bank-account.ts';
import { addDays } from '../calendar-date.ts';
import { type Problem, problem } from '../errors.ts';
import { moroccanDate } from '../morocco/time.ts';
import { PAYMENT_MEANS } from '../payment-means.ts';
import { completedProfile, type SellerProfile } from '../tenant/tenant.ts';
import { dateProblems } from './date-problems.ts';
import { DATE_YEARS } from './field-input.ts';
import { keeper } from './field-makers.ts';
import type { Input, Stored } from './field-table.ts';
import type { ServicePeriod } from './particulars.ts';
import { INVOICE_TERMS } from './terms-fields.ts';

/** Date of the operation, due date and payment. Dates are calendar dates in Africa/Casablanca, `YYYY-MM-DD`. */
export interface InvoiceTerms extends Stored<typeof INVOICE_TERMS> {}

/** The terms that a client sends for one invoice. */
export type TermsInput = Input<typeof INVOICE_TERMS>;

/** The terms that documents state. */
export type LegalTerms = InvoiceTerms & { readonly paymentMode: string };

const keepTerms = keeper(INVOICE_TERMS);

export const NO_TERMS: InvoiceTerms = keepTerms({});

/** Returns the terms to store with an invoice, without those of the profile. */
export function ownTerms(input: Partial<TermsInput> | null | undefined): InvoiceTerms {
  return keepTerms(input ?? {});
}

/** Checks the business rules (422) of the terms. @param issueDate the date of the invoice */
export function termsProblems(
  { operationDate, dueDate, bankAccount }: Partial<TermsInput>,
  issueDate: string,
): Problem[] {
  const { operationBefore, operationAfter, dueAfter } = DATE_YEARS;
  const ofOperation = { before: operationBefore, after: operationAfter };
  const problems = [
    ...dateProblems('terms.operationDate', operationDate, issueDate, ofOperation, 'operationDate'),
    ...dateProblems('terms.dueDate', dueDate, issueDate, { after: dueAfter }, 'dueDate'),
  ];
  if (bankAccount != null && !hasBankAccountKey(bankAccount)) {
    const message =
      'bankAccount has a check key (its last two digits) that does not match: at least one digit is wrong.';
    problems.push(problem('invalid_bank_account', message, 'terms.bankAccount'));
  }
  return problems;
}

/** The fields of an invoice that {@link termsOf} needs. */
export interface TermsSource {
  /** The terms stated at creation. */
  readonly terms: InvoiceTerms;
  readonly seller: Partial<SellerProfile>;
  readonly createdAt: Date;
  /** The legal number; null before it is assigned. */
  readonly number: string | null;
  readonly servicePeriod: ServicePeriod | null;
}

/**
 * Returns the terms that an invoice's documents state: its own, otherwise those of the seller's profile that was copied
 * into the invoice.
 *
 * Payment mode (words) and payment means (code) belong together: an invoice that states either takes neither from the
 * profile. The profile's bank account applies to transfers and to payments without a code. A code without words gets
 * the code's own words, which take precedence over those of a specimen. The reference defaults to the invoice's number
 * if the payment means or the account is known. A stated period of service says when the operation was, so the profile
 * does not.
 */
export function termsOf({ terms: own, seller: profile, createdAt, number, servicePeriod }: TermsSource): LegalTerms {
  const { seller } = completedProfile(profile);
  const issueDate = moroccanDate(createdAt);
  const takesProfiles = own.paymentMode === null && own.paymentMeans === null;
  const paymentMeans = takesProfiles ? seller.paymentMeans : own.paymentMeans;
  const words = paymentMeans === null ? null : PAYMENT_MEANS[paymentMeans].words[seller.documentLanguage];
  const takesAccount = paymentMeans === null || paymentMeans === 'transfer';
  const bankAccount = own.bankAccount ?? (takesAccount ? seller.bankAccount : null);
  const { paymentTermDays: days } = seller;
  return {
    operationDate: own.operationDate ?? (seller.operationDateIsIssueDate && !servicePeriod ? issueDate : null),
    dueDate: own.dueDate ?? (days === null ? null : addDays(issueDate, days)),
    paymentMode: own.paymentMode ?? (takesProfiles ? profile.paymentMode : null) ?? words ?? seller.paymentMode,
    paymentMeans,
    paymentReference: own.paymentReference ?? (paymentMeans === null && bankAccount === null ? null : number),
    bankAccount,
  };
}
