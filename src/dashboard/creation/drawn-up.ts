import { CUSTOMER_KIND_NAMES, type CustomerKind, DEFAULT_CUSTOMER_KIND } from '../../domain/invoice/customer-kind.ts';
import { dueTotals } from '../../domain/invoice/due-totals.ts';
import type { RateTotal, TaxRate } from '../../domain/invoice/tax-rate.ts';
import type { LineTotals } from '../../domain/invoice/totals.ts';
import type { InvoiceInput, KnownCustomer } from './documents.ts';
import { detailsOf, type TypedDetails } from './typed-details.ts';
import { adjustmentOf, isUnreadable, type TypedAdjustment } from './typed-discount.ts';
import { lineOf, type TypedLine } from './typed-line.ts';
import { type TypedTerms, termsOf } from './typed-terms.ts';
import { UNREADABLE } from './typed-values.ts';

export interface TypedInvoice {
  /** Absent: a company. */
  readonly kind?: CustomerKind;
  /** ISO 3166-1 alpha-2, of a customer abroad. */
  readonly country?: string;
  readonly taxNumber?: string;
  readonly ice: string;
  readonly name: string;
  readonly email: string;
  readonly address?: string;
  /** Of the client's own series; absent if the form has no field for it. */
  readonly number?: string;
  readonly lines: readonly TypedLine[];
  /** Of all lines together. */
  readonly discount?: TypedAdjustment;
  readonly charge?: TypedAdjustment;
  readonly terms?: TypedTerms;
  readonly details?: TypedDetails;
  readonly isDeposit?: boolean;
  /** The ids of the deposit invoices that a final invoice deducts. */
  readonly deposits?: readonly string[];
}

/** The rest of deposits at each rate, by the id of the deposit invoice. */
export type Left = ReadonlyMap<string, readonly RateTotal[]>;

const NOTHING_LEFT: Left = new Map();

/**
 * Converts the form to an invoice as the API takes it, with its total as the service computes it. A line or an
 * adjustment with an unreadable figure is sent so that the service refuses it, and is not in the total.
 * @param left the rest of the deposits that it deducts, as far as it is known
 */
export function drawnUp(invoice: TypedInvoice, left = NOTHING_LEFT): InvoiceInput {
  const { name, email, number, isDeposit } = invoice;
  const address = invoice.address?.trim();
  const terms = invoice.terms && termsOf(invoice.terms);
  const deposits = isDeposit ? [] : [...(invoice.deposits ?? [])];
  const discount = adjustmentOf(invoice.discount);
  const charge = adjustmentOf(invoice.charge);
  const priced = { lines: invoice.lines.map(lineOf), ...(discount && { discount }), ...(charge && { charge }) };
  const customer = {
    ...identityOf(invoice),
    name: name.trim(),
    ...(address && { address }),
    ...(email.trim() && { email: email.trim() }),
  };
  const own = number?.trim();
  return {
    amount: readTotals({ ...priced, deposits }, left)?.gross ?? 0,
    currency: 'MAD',
    customer,
    ...priced,
    ...(own && { number: own }),
    ...(isDeposit && { isDeposit }),
    ...(deposits.length > 0 && { deposits }),
    ...(terms && { terms }),
    ...(invoice.details && detailsOf(invoice.details)),
  };
}

/**
 * Returns the totals of the readable parts of an invoice, after the deposits whose rest is known. Deposits that exceed
 * the lines are refused by the service, and not deducted until then.
 * @returns null when a total is beyond the limit of the service
 */
export function readTotals(
  { lines, discount, charge, deposits }: Pick<InvoiceInput, 'lines' | 'discount' | 'charge' | 'deposits'>,
  left = NOTHING_LEFT,
): LineTotals | null {
  const readable = lines.filter(
    (line) => ![line.quantity, line.unitPrice, line.taxRate].includes(UNREADABLE) && !isUnreadable(line.discount),
  );
  const deducted = (deposits ?? []).flatMap((id) => {
    const rates = left.get(id);
    return rates ? [{ rates }] : [];
  });
  const document = {
    // A rate that does not exist is refused by the service; its line counts in the total until then.
    lines: readable.map((line) => ({ ...line, taxRate: line.taxRate as TaxRate })),
    discount: isUnreadable(discount) ? null : discount,
    charge: isUnreadable(charge) ? null : charge,
  };
  const { sale, due } = dueTotals(document, deducted);
  return due ?? sale;
}

/** Returns a customer as the form shows it. */
export function typedCustomerOf(customer: KnownCustomer) {
  const { kind, ice, name, address, email, country, taxNumber } = customer;
  return {
    kind,
    name,
    ice: ice ?? '',
    address: address ?? '',
    email: email ?? '',
    country: country ?? '',
    taxNumber: taxNumber ?? '',
  };
}

/** Returns the kind of a customer; a company if it is not known. */
export function kindOf({ kind }: { readonly kind?: unknown }): CustomerKind {
  return CUSTOMER_KIND_NAMES.find((each) => each === kind) ?? DEFAULT_CUSTOMER_KIND;
}

/** Returns the identifying members of the customer. Texts in fields that its kind does not have are left out. */
function identityOf({ ice, country, taxNumber, ...typed }: TypedInvoice) {
  const kind = kindOf(typed);
  if (kind === 'company') return { ice: ice.trim() };
  if (kind === 'person') return { kind };
  const number = taxNumber?.trim();
  return { kind, ...(country && { country }), ...(number && { taxNumber: number }) };
}
