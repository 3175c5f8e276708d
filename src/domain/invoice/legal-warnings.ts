import { addDays, moroccanDate } from '../calendar-date.ts';
import { missingProfileFields } from '../tenant/tenant.ts';
import type { Invoice } from './invoice.ts';
import { termsOf } from './terms.ts';
import { totalsOf } from './totals.ts';

/** Days after an invoice's date. */
const LONGEST_TERM = 120;

/** All warnings, by their code: what is amiss, by which rule, and what to do. */
export const INVOICE_WARNINGS = {
  rounding: {
    meaning: 'The amount is not that of the lines with their VAT to the centime; the document states the difference.',
    remedy: 'Compute VAT once per rate on the summed lines and round it half up.',
  },
  ice_zero: { meaning: "The ICE is all zeros, which is nobody's.", remedy: 'Check it.' },
  ice_check_key: {
    meaning: 'The check key of the ICE (its last two digits) does not fit: a digit may be wrong.',
    remedy: 'Check it.',
  },
  customer_is_seller: { meaning: "The customer's ICE is the seller's own.", remedy: 'Check it with the customer.' },
  customer_address_missing: {
    meaning: "An invoice must state the buyer's address (CGI, art. 145-III).",
    remedy: 'Send customer.address.',
  },
  seller_field_missing: {
    meaning: 'The profile lacks what an invoice must state of the seller; the specimen stands in for it.',
    remedy: "Complete the tenant's profile.",
  },
  exemption_reason_missing: {
    meaning: 'Lines at 0 % need the reason of their exemption (CGI, art. 91 and 92).',
    remedy: 'Add exemptionReason to the profile.',
  },
  operation_date_missing: {
    meaning: 'An invoice must state the date of the operation (CGI, art. 145-III).',
    remedy:
      'Send terms.operationDate (GraphQL), or set operationDateIsIssueDate in the profile where it is the day of the invoice.',
  },
  due_date_missing: {
    meaning:
      "The invoice states no due date. Where the parties agreed none, law 69-21 makes it 60 days after the invoice's date.",
    remedy: 'Send terms.dueDate (GraphQL), or set paymentTermDays in the profile.',
  },
  due_date_late: {
    meaning: `The due date is more than ${LONGEST_TERM} days after the invoice's date, the longest that law 69-21 lets parties agree; a decree may allow a sector more.`,
    remedy: 'Check it, and paymentTermDays in the profile.',
  },
  payment_means_missing: {
    meaning: 'The payment mode is stated in words only (UNCL4461 code 1), which programs can not read.',
    remedy: 'Send terms.paymentMeans (GraphQL), or set paymentMeans in the profile.',
  },
  payment_reference_missing: {
    meaning: 'An invoice must state the references of its payment (CGI, art. 145-III).',
    remedy:
      'Send terms.paymentReference (GraphQL); with paymentMeans or bankAccount in the profile it is the number of the invoice.',
  },
  bank_account_missing: {
    meaning: 'The invoice is to be paid by bank transfer and states no account.',
    remedy: 'Send terms.bankAccount (GraphQL), or set bankAccount in the profile.',
  },
} as const satisfies Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>;

export type WarningCode = keyof typeof INVOICE_WARNINGS;

/** Something about an invoice that the law or the tax authority may take amiss, though the service does not refuse it. */
export interface InvoiceWarning {
  /** Stable, for programs. */
  readonly code: WarningCode;
  /** Dotted path of the field: `customer.address`, `seller.cnss`. */
  readonly path: string;
  /** What is amiss, by which rule, and what to do. */
  readonly message: string;
}

/** The warnings of an invoice: a function of what it states, so they are computed whenever they are asked for. */
export function legalWarnings({
  customer,
  seller,
  lines,
  amount,
  terms,
  createdAt,
}: Pick<Invoice, 'customer' | 'seller' | 'lines' | 'amount' | 'terms' | 'createdAt'>): InvoiceWarning[] {
  const warnings: InvoiceWarning[] = [];
  /** @param what is amiss, where more can be said than the table does */
  const warn = (code: WarningCode, path: string, what: string = INVOICE_WARNINGS[code].meaning) =>
    warnings.push({ code, path, message: `${what} ${INVOICE_WARNINGS[code].remedy}` });
  const warnOfIce = (ice: string, path: string) => {
    const code = iceWarning(ice);
    if (code) warn(code, path);
  };

  const difference = amount - (totalsOf(lines)?.gross ?? amount);
  if (difference !== 0) {
    warn(
      'rounding',
      'amount',
      `amount is ${Math.abs(difference)} centimes ${difference > 0 ? 'above' : 'below'} the lines with their VAT; the document states the difference.`,
    );
  }
  warnOfIce(customer.ice, 'customer.ice');
  if (customer.ice === seller.ice) warn('customer_is_seller', 'customer.ice');
  if (customer.address === null || customer.address.trim() === '') warn('customer_address_missing', 'customer.address');
  for (const field of missingProfileFields(seller)) {
    const what = `An invoice must state the seller's ${field}; the specimen stands in for it.`;
    warn('seller_field_missing', `seller.${field}`, what);
  }
  if (seller.ice !== undefined) warnOfIce(seller.ice, 'seller.ice');
  const isComplete = missingProfileFields(seller).length === 0;
  if (isComplete && !seller.exemptionReason?.trim() && lines.some(({ taxRate }) => taxRate === 0)) {
    warn('exemption_reason_missing', 'seller.exemptionReason');
  }

  const issueDate = moroccanDate(createdAt);
  // Any number will do: whether there is a reference does not depend on it.
  const stated = termsOf({ terms, seller, createdAt, number: '-' });
  if (stated.operationDate === null) warn('operation_date_missing', 'terms.operationDate');
  if (stated.dueDate === null) warn('due_date_missing', 'terms.dueDate');
  else if (stated.dueDate > addDays(issueDate, LONGEST_TERM)) warn('due_date_late', 'terms.dueDate');
  if (stated.paymentMeans === null) warn('payment_means_missing', 'terms.paymentMeans');
  if (stated.paymentReference === null) warn('payment_reference_missing', 'terms.paymentReference');
  if (stated.paymentMeans === 'transfer' && stated.bankAccount === null) {
    warn('bank_account_missing', 'terms.bankAccount');
  }
  return warnings;
}

/** The last two digits of an ICE are a key: the whole number is divisible by 97. So are fifteen zeros, which are nobody's. */
function iceWarning(ice: string): WarningCode | null {
  if (/^0+$/.test(ice)) return 'ice_zero';
  return /^\d{15}$/.test(ice) && BigInt(ice) % 97n !== 0n ? 'ice_check_key' : null;
}
