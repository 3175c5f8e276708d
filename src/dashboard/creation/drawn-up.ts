import { centimesOf } from '../text/money.ts';
import type { InvoiceInput } from './documents.ts';

/** A line as it is typed. */
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
  readonly lines: readonly TypedLine[];
}

/**
 * The invoice as the API takes it, with the total of its lines: VAT computed once for each rate, rounded half up. A
 * text that is no number becomes 0, which the service refuses with its reason.
 */
export function drawnUp({ ice, name, email, lines }: TypedInvoice): InvoiceInput {
  const typed = lines.map(({ description, quantity, unitPrice, taxRate }) => ({
    description,
    ...{ quantity: wholeOf(quantity), unitPrice: centimesOf(unitPrice) ?? 0, taxRate: wholeOf(taxRate) },
  }));
  const bases = new Map<number, bigint>();
  for (const { quantity, unitPrice, taxRate } of typed)
    bases.set(taxRate, (bases.get(taxRate) ?? 0n) + BigInt(quantity) * BigInt(unitPrice));
  const amount = [...bases].reduce((sum, [rate, base]) => sum + base + (base * BigInt(rate) + 50n) / 100n, 0n);
  const customer = { ice: ice.trim(), name: name.trim(), ...(email.trim() && { email: email.trim() }) };
  return { amount: Number(amount), currency: 'MAD', customer, lines: typed };
}

function wholeOf(text: string): number {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : 0;
}
