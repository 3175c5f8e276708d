import { z } from 'zod';
import { bankAccountDigits, hasBankAccountKey } from '../bank-account.ts';
import { addDays, addYears, isCalendarDate, moroccanDate } from '../calendar-date.ts';
import { type Problem, problem } from '../errors.ts';
import { exactly, expected } from '../input-problems.ts';
import { PAYMENT_MEANS, PAYMENT_MEANS_NAMES, type PaymentMeans } from '../payment-means.ts';
import { oneLineText } from '../printable-text.ts';
import { completedProfile, type SellerProfile } from '../tenant/tenant.ts';

/** When the operation was, and how and until when it is to be paid. Dates are calendar dates in Africa/Casablanca, `YYYY-MM-DD`. */
export interface InvoiceTerms {
  /** When the goods were delivered or the service was done (CGI, art. 145-III). */
  readonly operationDate: string | null;
  readonly dueDate: string | null;
  /** In words. */
  readonly paymentMode: string | null;
  readonly paymentMeans: PaymentMeans | null;
  /** What the buyer is to quote. */
  readonly paymentReference: string | null;
  /** RIB, 24 digits. */
  readonly bankAccount: string | null;
}

/** The terms as documents state them. */
export type LegalTerms = InvoiceTerms & { readonly paymentMode: string };

export const NO_TERMS: InvoiceTerms = {
  operationDate: null,
  dueDate: null,
  paymentMode: null,
  paymentMeans: null,
  paymentReference: null,
  bankAccount: null,
};

const LIMITS = { paymentMode: 100, paymentReference: 50 } as const;
/** How far from the invoice's own date the others may be, years. */
const YEARS = { operationBefore: 10, operationAfter: 1, dueAfter: 5 } as const;

const DATE = "a calendar date, such as '2026-01-31'";
const date = z
  .string({ error: expected(DATE) })
  .refine(isCalendarDate, { error: expected(DATE) })
  .nullish();

/** The terms of one invoice as GraphQL's clients send them: structure only. What is absent or null is taken from the seller's profile. */
export const termsInput = exactly(
  {
    operationDate: date,
    dueDate: date,
    paymentMode: oneLineText(LIMITS.paymentMode, 'how the invoice is paid, in words').nullish(),
    paymentMeans: z
      .enum(PAYMENT_MEANS_NAMES, { error: expected(`one of ${PAYMENT_MEANS_NAMES.join(', ')}`) })
      .nullish(),
    paymentReference: oneLineText(LIMITS.paymentReference, 'what the buyer is to quote').nullish(),
    bankAccount: bankAccountDigits().nullish(),
  },
  'an object with operationDate, dueDate, paymentMode, paymentMeans, paymentReference and bankAccount',
);
export type TermsInput = z.infer<typeof termsInput>;

/** The terms as an invoice keeps them: those of its own. */
export function ownTerms(input: TermsInput | null | undefined): InvoiceTerms {
  const { operationDate, dueDate, paymentMode, paymentMeans, paymentReference, bankAccount } = {
    ...NO_TERMS,
    ...input,
  };
  return {
    operationDate: operationDate ?? null,
    dueDate: dueDate ?? null,
    paymentMode: paymentMode ?? null,
    paymentMeans: paymentMeans ?? null,
    paymentReference: paymentReference ?? null,
    bankAccount: bankAccount ?? null,
  };
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
