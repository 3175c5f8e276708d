import { CUSTOMER_KIND_NAMES, type CustomerKind, DEFAULT_CUSTOMER_KIND } from '../../domain/invoice/customer-kind.ts';
import type { TaxRate } from '../../domain/invoice/tax-rate.ts';
import { totalsOf } from '../../domain/invoice/totals.ts';
import type { InvoiceInput } from './documents.ts';
import { lineOf, type TypedLine, UNREADABLE } from './typed-line.ts';

export interface TypedInvoice {
  /** Absent: a company. */
  readonly kind?: CustomerKind;
  /** ISO 3166-1 alpha-2, of a customer abroad. */
  readonly country?: string;
  readonly taxNumber?: string;
  readonly ice: string;
  readonly name: string;
  readonly email: string;
  /** Of the client's own series; absent if the form has no field for it. */
  readonly number?: string;
  readonly lines: readonly TypedLine[];
}

/**
 * Converts the form to an invoice as the API takes it, with the total of its lines as the service computes it. A line
 * with an unreadable figure is sent so that the service refuses it, and is not in the total.
 */
export function drawnUp(invoice: TypedInvoice): InvoiceInput {
  const { name, email, number, lines } = invoice;
  const typed = lines.map(lineOf);
  const readable = typed.filter(({ quantity, unitPrice, taxRate, discount }) => {
    const figures = [quantity, unitPrice, taxRate, discount?.amount, discount?.percent];
    return !figures.includes(UNREADABLE);
  });
  // A rate that does not exist is refused by the service; its line counts in the total until then.
  const totals = totalsOf({ lines: readable.map((line) => ({ ...line, taxRate: line.taxRate as TaxRate })) });
  const customer = {
    ...identityOf(invoice),
    name: name.trim(),
    ...(email.trim() && { email: email.trim() }),
  };
  const own = number?.trim();
  return { amount: totals?.gross ?? 0, currency: 'MAD', customer, lines: typed, ...(own && { number: own }) };
}

/** Returns what a customer is; a company if that is not known. */
export function kindOf({ kind }: { readonly kind?: unknown }): CustomerKind {
  return CUSTOMER_KIND_NAMES.find((each) => each === kind) ?? DEFAULT_CUSTOMER_KIND;
}

/** Returns what identifies the customer. What is typed in a field that its kind does not have is left out. */
function identityOf({ ice, country, taxNumber, ...typed }: TypedInvoice) {
  const kind = kindOf(typed);
  if (kind === 'company') return { ice: ice.trim() };
  if (kind === 'person') return { kind };
  const number = taxNumber?.trim();
  return { kind, ...(country && { country }), ...(number && { taxNumber: number }) };
}
