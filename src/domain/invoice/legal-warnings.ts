import { missingProfileFields } from '../tenant/tenant.ts';
import type { Invoice } from './invoice.ts';
import { totalsOf } from './totals.ts';

/** Something about an invoice that the law or the tax authority may take amiss, though the service does not refuse it. */
export interface InvoiceWarning {
  /** Stable, for programs. */
  readonly code:
    | 'customer_address_missing'
    | 'ice_check_key'
    | 'ice_zero'
    | 'customer_is_seller'
    | 'seller_field_missing'
    | 'exemption_reason_missing'
    | 'rounding';
  /** Dotted path of the field: `customer.address`, `seller.cnss`. */
  readonly path: string;
  /** What is amiss, by which rule, and what to do. */
  readonly message: string;
}

/** The warnings of an invoice: a function of what it states, so they are computed when they are asked for. */
export function legalWarnings({
  customer,
  seller,
  lines,
  amount,
}: Pick<Invoice, 'customer' | 'seller' | 'lines' | 'amount'>): InvoiceWarning[] {
  const warnings: InvoiceWarning[] = [];
  const warn = (code: InvoiceWarning['code'], path: string, message: string) => warnings.push({ code, path, message });

  const difference = amount - (totalsOf(lines)?.gross ?? amount);
  if (difference !== 0) {
    warn(
      'rounding',
      'amount',
      `amount is ${Math.abs(difference)} centimes ${difference > 0 ? 'above' : 'below'} the lines with their VAT, which is computed once per rate; the document states it as rounding.`,
    );
  }
  warnings.push(...iceWarnings(customer.ice, 'customer.ice'));
  if (customer.ice === seller.ice) {
    warn('customer_is_seller', 'customer.ice', "The customer's ICE is the seller's own. Check it with the customer.");
  }
  if (customer.address === null || customer.address.trim() === '') {
    warn(
      'customer_address_missing',
      'customer.address',
      "An invoice must state the buyer's address (CGI, art. 145-III). Send customer.address.",
    );
  }
  for (const field of missingProfileFields(seller)) {
    warn(
      'seller_field_missing',
      `seller.${field}`,
      `An invoice must state the seller's ${field}. The specimen stands in for it; complete the tenant's profile.`,
    );
  }
  if (seller.ice !== undefined) warnings.push(...iceWarnings(seller.ice, 'seller.ice'));
  const isComplete = missingProfileFields(seller).length === 0;
  if (isComplete && !seller.exemptionReason?.trim() && lines.some(({ taxRate }) => taxRate === 0)) {
    warn(
      'exemption_reason_missing',
      'seller.exemptionReason',
      'Lines at 0 % need the reason of their exemption (CGI, art. 91 and 92). Add it to the profile.',
    );
  }
  return warnings;
}

/** The last two digits of an ICE are a key: the whole number is divisible by 97. So are fifteen zeros, which are nobody's. */
function iceWarnings(ice: string, path: string): InvoiceWarning[] {
  if (/^0+$/.test(ice))
    return [{ code: 'ice_zero', path, message: `${path} is all zeros, which is nobody's ICE. Check it.` }];
  if (/^\d{15}$/.test(ice) && BigInt(ice) % 97n !== 0n) {
    return [
      {
        code: 'ice_check_key',
        path,
        message: `The check key of ${path} (its last two digits) does not fit: a digit may be wrong. Check it.`,
      },
    ];
  }
  return [];
}
