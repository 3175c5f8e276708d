import { hasBankAccountKey } from '../bank-account.ts';
import { addDays, addYears, moroccanDate } from '../calendar-date.ts';
import { type Problem, problem } from '../errors.ts';
import { PAYMENT_MEANS } from '../payment-means.ts';
import { completedProfile, type SellerProfile } from '../tenant/tenant.ts';
import { keeper } from './field-makers.ts';
import type { Input, Stored } from './field-table.ts';
import { INVOICE_TERMS } from './fields.ts';

/** When the operation was, and how and until when it is to be paid. Dates are calendar dates in Africa/Casablanca, `YYYY-MM-DD`. */
export interface InvoiceTerms extends Stored<typeof INVOICE_TERMS> {}

/** The terms of one invoice as clients send them. */
export type TermsInput = Input<typeof INVOICE_TERMS>;

/** The terms as documents state them. */
export type LegalTerms = InvoiceTerms & { readonly paymentMode: string };

const keepTerms = keeper(INVOICE_TERMS);

export const NO_TERMS: InvoiceTerms = keepTerms({});

/** How far from the invoice's own date the others may be, years. */
const YEARS = { operationBefore: 10, operationAfter: 1, dueAfter: 5 } as const;

/** The terms as an invoice keeps them: those of its own. */
export function ownTerms(input: Partial<TermsInput> | null | undefined): InvoiceTerms {
  return keepTerms(input ?? {});
}

/** The business rules (422) that terms break. @param issueDate the invoice's own date */
export function termsProblems(
  { operationDate, dueDate, bankAccount }: Partial<TermsInput>,
  issueDate: string,
): Problem[] {
  const problems: Problem[] = [];
  const within = (name: string, day: string | null | undefined, first: string, last: string) => {
    if (day == null || (day >= first && day <= last)) return;
    const message = `${name} is ${day}; for an invoice of ${issueDate} it can be ${first} to ${last}.`;
    problems.push(problem('invalid_date', message, `terms.${name}`));
  };
  const { operationBefore, operationAfter, dueAfter } = YEARS;
  within('operationDate', operationDate, addYears(issueDate, -operationBefore), addYears(issueDate, operationAfter));
  within('dueDate', dueDate, issueDate, addYears(issueDate, dueAfter));
  if (bankAccount != null && !hasBankAccountKey(bankAccount)) {
    const message = 'bankAccount has a check key (its last two digits) that does not fit: a digit is wrong.';
    problems.push(problem('invalid_bank_account', message, 'terms.bankAccount'));
  }
  return problems;
}

/** What the terms of an invoice follow from. */
export interface TermsSource {
  /** Its own. */
  readonly terms: InvoiceTerms;
  readonly seller: Partial<SellerProfile>;
  readonly createdAt: Date;
  /** The legal number; null while it has none. */
  readonly number: string | null;
}

/**
 * The terms that an invoice's documents state: its own, else those of the seller's profile as it was copied into the invoice.
 *
 * The words and the kind of the payment go together, so an invoice that gives either takes neither from the profile. The profile's account
 * is for transfers and for what has no kind. A kind without words is named by its own, before a specimen's words are. The reference is the invoice's number unless it gives one, where anything is known of the payment.
 */
export function termsOf({ terms: own, seller: profile, createdAt, number }: TermsSource): LegalTerms {
  const { seller } = completedProfile(profile);
  const issueDate = moroccanDate(createdAt);
  const takesProfiles = own.paymentMode === null && own.paymentMeans === null;
  const paymentMeans = takesProfiles ? seller.paymentMeans : own.paymentMeans;
  const words = paymentMeans === null ? null : PAYMENT_MEANS[paymentMeans].words[seller.documentLanguage];
  const takesAccount = paymentMeans === null || paymentMeans === 'transfer';
  const bankAccount = own.bankAccount ?? (takesAccount ? seller.bankAccount : null);
  const { paymentTermDays: days } = seller;
  return {
    operationDate: own.operationDate ?? (seller.operationDateIsIssueDate ? issueDate : null),
    dueDate: own.dueDate ?? (days === null ? null : addDays(issueDate, days)),
    paymentMode: own.paymentMode ?? (takesProfiles ? profile.paymentMode : null) ?? words ?? seller.paymentMode,
    paymentMeans,
    paymentReference: own.paymentReference ?? (paymentMeans === null && bankAccount === null ? null : number),
    bankAccount,
  };
}
