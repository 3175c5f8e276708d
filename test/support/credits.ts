import type { CreditShare } from '../../src/domain/invoice/credit.ts';
import { type CreditRequest, creditOf } from '../../src/domain/invoice/credit-share.ts';
import type { InvoiceLine } from '../../src/domain/invoice/invoice.ts';
import { PIECE, type PricedLine } from '../../src/domain/invoice/line-amounts.ts';
import type { TaxRate } from '../../src/domain/invoice/tax-rate.ts';
import { type LineTotals, totalsOf } from '../../src/domain/invoice/totals.ts';

/** The part of an invoice that credit notes are computed from. */
export interface CreditedInvoice {
  readonly number: string;
  readonly amount: number;
  readonly lines: readonly InvoiceLine[];
}

export const REST = { kind: 'rest' } as const;

export function line(quantity: number, unitPrice: number, taxRate: TaxRate, description = 'Conseil'): InvoiceLine {
  return { ...PIECE, description, quantity, unitPrice, taxRate, amount: quantity * unitPrice };
}

/** Computes the totals of lines that do not overflow. */
export function totals(lines: readonly PricedLine[]): LineTotals {
  const sums = totalsOf({ lines });
  if (!sums) throw new Error('the lines overflow');
  return sums;
}

/** Makes an invoice whose amount differs from the total of its lines by `rounding`. */
export function invoiceOf(lines: readonly InvoiceLine[], rounding = 0): CreditedInvoice {
  return { number: '2026-000123', amount: totals(lines).gross + rounding, lines };
}

/** Makes a request for amounts without texts. */
export function amounts(...entries: (readonly [TaxRate, number])[]): CreditRequest {
  return { kind: 'amounts', amounts: entries.map(([taxRate, net]) => ({ taxRate, net })) };
}

/** Makes a request for lines: their positions with quantities. */
export function ofLines(...entries: (readonly [number, number])[]): CreditRequest {
  return { kind: 'lines', lines: entries.map(([position, quantity]) => ({ line: position, quantity })) };
}

/** Makes a credit note. Throws if it is refused. */
export function credited(invoice: CreditedInvoice, counted: readonly CreditShare[], request: CreditRequest) {
  const result = creditOf(invoice, counted, request);
  if ('problems' in result) throw new Error(result.problems[0].message);
  return result;
}
