import type { Rule } from '../morocco/rule.ts';
import { ALL_RULES, type AppliedRule, rulesOn, standingOf, WARNING_RULES } from '../morocco/rules.ts';
import { moroccanDate } from '../morocco/time.ts';
import { missingProfileFields } from '../tenant/tenant.ts';
import type { StatedAdjustment } from './adjustments.ts';
import type { Credit } from './credit.ts';
import type { Customer, Invoice } from './invoice.ts';
import { INVOICE_WARNINGS, type InvoiceWarning, type WarningCode } from './invoice-warnings.ts';
import type { Particulars } from './particulars.ts';
import type { LegalLine } from './ports.ts';
import { type LegalTerms, termsOf } from './terms.ts';
import { type InvoiceTotals, type StatedDocument, statedTotals } from './totals.ts';

/** The parts of an invoice that warnings depend on. */
export interface WarnedInvoice
  extends Pick<Invoice, 'kind' | 'seller' | 'amount' | 'terms' | 'createdAt' | keyof Particulars> {
  readonly credit?: Pick<Credit, 'original'> | null;
  readonly customer: Pick<Customer, 'kind' | 'ice' | 'name' | 'address' | 'taxNumber'>;
  readonly lines: readonly Omit<LegalLine, 'amount'>[];
  readonly discount?: StatedAdjustment | null | undefined;
  readonly charge?: StatedAdjustment | null | undefined;
  readonly deduction?: StatedDocument['deduction'];
  readonly isDeposit?: boolean | null;
}

/**
 * Computes the warnings about an invoice's contents, on demand and without side effects: the rules of law that it
 * breaks on its date, and suspicious values.
 */
export function legalWarnings(invoice: WarnedInvoice): InvoiceWarning[] {
  const { kind, seller } = invoice;
  const totals = statedTotals(invoice);
  const stated = statedTerms(invoice);
  const law = lawOf(invoice, stated, totals, WARNING_RULES).map(warningOf);
  /** The warnings of these rules, in this order. */
  const take = (...codes: readonly WarningCode[]) => codes.flatMap((taken) => law.filter(({ code }) => code === taken));
  // Clients know the order of the oldest warnings. The warnings of later rules follow them.
  const first = [
    ...roundingWarnings(invoice, totals),
    ...customerWarnings(invoice),
    ...take('customer_address_missing', 'seller_field_missing'),
    ...iceWarnings(seller.ice, 'seller.ice'),
    ...take('exemption_reason_missing', 'operation_date_missing', 'due_date_missing', 'due_date_late'),
    ...(kind === 'invoice' && stated.paymentMeans === null
      ? [ofTable('payment_means_missing', 'terms.paymentMeans')]
      : []),
    ...take('payment_reference_missing'),
    ...(kind === 'invoice' && stated.paymentMeans === 'transfer' && stated.bankAccount === null
      ? [ofTable('bank_account_missing', 'terms.bankAccount')]
      : []),
  ];
  return [...first, ...law.filter(({ code }) => !first.some((known) => known.code === code))];
}

/**
 * Finds the rules of law that concern an invoice or credit note on its date: those that it breaks, those that only
 * explain, and those that are off because their sources contradict each other.
 */
export function rulesConcerning(invoice: WarnedInvoice): AppliedRule[] {
  return lawOf(invoice, statedTerms(invoice), statedTotals(invoice), ALL_RULES);
}

function statedTerms({ terms, seller, createdAt, servicePeriod }: WarnedInvoice): LegalTerms {
  // Any number works here, because only the presence of a reference matters.
  return termsOf({ terms, seller, createdAt, number: '-', servicePeriod });
}

function lawOf(
  invoice: WarnedInvoice,
  terms: LegalTerms,
  totals: InvoiceTotals | null,
  rules: readonly Rule[],
): AppliedRule[] {
  const { kind, customer, seller, lines, amount, createdAt, credit } = invoice;
  const document = {
    kind,
    correctedOn: credit?.original.issueDate ?? null,
    taxRates: lines.map(({ taxRate }) => taxRate),
    exemptions: lines.map(({ exemption }) => exemption ?? null),
    total: amount,
    tax: totals?.tax ?? 0,
    buyer: customer,
    missingSellerFields: missingProfileFields(seller),
    exemptionReason: seller.exemptionReason ?? null,
    terms,
    servicePeriod: invoice.servicePeriod,
    isDeposit: invoice.isDeposit ?? false,
    hasForeignValue: invoice.foreignValue !== null,
    withholding: invoice.withholding,
  };
  return rulesOn(moroccanDate(createdAt), document, rules);
}

function warningOf({ rule, path, what }: AppliedRule): InvoiceWarning {
  const { description, remedy } = rule.warning!;
  const message = `${what ?? description} ${remedy} ${standingOf(rule)}`;
  return { code: rule.code as WarningCode, path, message, rule };
}

function ofTable(code: WarningCode, path: string, what: string = INVOICE_WARNINGS[code].description): InvoiceWarning {
  return { code, path, message: `${what} ${INVOICE_WARNINGS[code].remedy}` };
}

/** The shares of credit notes are exact for all of them together, so they have no rounding. */
function roundingWarnings({ kind, amount }: WarnedInvoice, totals: InvoiceTotals | null): InvoiceWarning[] {
  const difference = amount - (totals?.gross ?? amount);
  if (kind !== 'invoice' || difference === 0) return [];
  const what = `amount is ${Math.abs(difference)} centimes ${difference > 0 ? 'above' : 'below'} the lines with their VAT; the document states the difference.`;
  return [ofTable('rounding', 'amount', what)];
}

function customerWarnings({ customer, seller }: WarnedInvoice): InvoiceWarning[] {
  const isSeller = customer.ice !== null && customer.ice === seller.ice;
  return [
    ...iceWarnings(customer.ice, 'customer.ice'),
    ...(isSeller ? [ofTable('customer_is_seller', 'customer.ice')] : []),
  ];
}

/**
 * Computes the warnings about an ICE. Its last two digits are a check key, with which the whole number is divisible by
 * 97. All zeros pass that test but are no company's ICE.
 */
function iceWarnings(ice: string | null | undefined, path: string): InvoiceWarning[] {
  if (ice == null) return [];
  if (/^0+$/.test(ice)) return [ofTable('ice_zero', path)];
  return /^\d{15}$/.test(ice) && BigInt(ice) % 97n !== 0n ? [ofTable('ice_check_key', path)] : [];
}
