import { centimesOf } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';

/** A line of the invoice, as typed. */
export interface TypedLine {
  readonly description: string;
  /** A whole number. */
  readonly quantity: string;
  /** In dirhams, excluding tax: `1234,50`. */
  readonly unitPrice: string;
  /** Percent. */
  readonly taxRate: string;
}

export interface TypedInvoice {
  readonly ice: string;
  readonly name: string;
  readonly email: string;
  /** Of the client's own series; absent if the form has no field for it. */
  readonly number?: string;
  readonly lines: readonly TypedLine[];
}

/** What a line begins with: nothing that was not typed, except the most frequent quantity and rate. */
export const EMPTY_LINE: TypedLine = { description: '', quantity: '1', unitPrice: '', taxRate: '20' };

/** Replaces a figure that cannot be read. The service refuses the negative value and names the field. */
export const UNREADABLE = -1;

/**
 * Converts the form to an invoice as the API takes it, with the total of its lines. VAT is computed once for each rate,
 * rounded half up. A line with an unreadable figure is sent so that the service refuses it, and is not in the total.
 */
export function drawnUp({ ice, name, email, number, lines }: TypedInvoice): InvoiceInput {
  const typed = lines.map(({ description, quantity, unitPrice, taxRate }) => ({
    description,
    quantity: wholeOf(quantity),
    unitPrice: centimesOf(unitPrice) ?? UNREADABLE,
    taxRate: percentOf(taxRate),
  }));
  const bases = new Map<number, bigint>();
  for (const { quantity, unitPrice, taxRate } of typed) {
    if ([quantity, unitPrice, taxRate].includes(UNREADABLE)) continue;
    bases.set(taxRate, (bases.get(taxRate) ?? 0n) + BigInt(quantity) * BigInt(unitPrice));
  }
  const amount = [...bases].reduce((sum, [rate, base]) => sum + base + (base * BigInt(rate) + 50n) / 100n, 0n);
  const customer = { ice: ice.trim(), name: name.trim(), ...(email.trim() && { email: email.trim() }) };
  const own = number?.trim();
  return { amount: Number(amount), currency: 'MAD', customer, lines: typed, ...(own && { number: own }) };
}

/** Parses `1 000` to 1000. */
export function wholeOf(text: string): number {
  const digits = text.replaceAll(/\s/g, '');
  return /^\d{1,9}$/.test(digits) ? Number(digits) : UNREADABLE;
}

/** Parses `20`, `20 %` and `20,0` to 20. */
function percentOf(text: string): number {
  return wholeOf(text.replace(/[%٪]\s*$/, '').replace(/[.,]0{1,2}\s*$/, ''));
}
