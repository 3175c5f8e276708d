import { addDays } from '../calendar-date.ts';
import { moroccanDate } from '../morocco/time.ts';
import { missingProfileFields } from '../tenant/tenant.ts';
import type { Customer, Invoice } from './invoice.ts';
import { INVOICE_WARNINGS, type InvoiceWarning, LONGEST_TERM, type WarningCode } from './invoice-warnings.ts';
import type { LegalLine } from './ports.ts';
import { termsOf } from './terms.ts';
import { totalsOf } from './totals.ts';

/** The parts of an invoice that warnings depend on. */
export interface WarnedInvoice extends Pick<Invoice, 'kind' | 'seller' | 'amount' | 'terms' | 'createdAt'> {
  readonly customer: Pick<Customer, 'ice' | 'name' | 'address'>;
  readonly lines: readonly Omit<LegalLine, 'amount'>[];
}

/** Computes the warnings about an invoice's contents, on demand and without side effects. */
export function legalWarnings(invoice: WarnedInvoice): InvoiceWarning[] {
  const { kind, customer, seller, lines, amount, terms, createdAt } = invoice;
  const warnings: InvoiceWarning[] = [];
  /** Adds a warning. @param what the problem, if it can be stated more precisely than in the table */
  const warn = (code: WarningCode, path: string, what: string = INVOICE_WARNINGS[code].description) =>
    warnings.push({ code, path, message: `${what} ${INVOICE_WARNINGS[code].remedy}` });
  const warnOfIce = (ice: string, path: string) => {
    const code = iceWarning(ice);
    if (code) warn(code, path);
  };

  // The shares of credit notes are exact for all of them together, and they have no terms.
  const isInvoice = kind === 'invoice';
  const difference = amount - (totalsOf(lines)?.gross ?? amount);
  if (isInvoice && difference !== 0) {
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
    const what = `An invoice must state the seller's ${field}; test documents show specimen data instead.`;
    warn('seller_field_missing', `seller.${field}`, what);
  }
  if (seller.ice !== undefined) warnOfIce(seller.ice, 'seller.ice');
  // Also warns if the specimen seller's reason is used, because the profile lacks its own.
  if (!seller.exemptionReason?.trim() && lines.some(({ taxRate }) => taxRate === 0)) {
    warn('exemption_reason_missing', 'seller.exemptionReason');
  }

  if (!isInvoice) return warnings;
  const issueDate = moroccanDate(createdAt);
  // Any number works here, because only the presence of a reference matters.
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

/**
 * Returns a warning about an ICE. Its last two digits are a check key, with which the whole number is divisible by 97.
 * All zeros pass that test but are no company's ICE.
 */
function iceWarning(ice: string): WarningCode | null {
  if (/^0+$/.test(ice)) return 'ice_zero';
  return /^\d{15}$/.test(ice) && BigInt(ice) % 97n !== 0n ? 'ice_check_key' : null;
}
