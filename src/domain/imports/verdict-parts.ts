import type { ImportedInvoice } from './import.ts';
import type { IssuedAs } from './invoicing.ts';
import { cellOf } from './origins.ts';
import type { ReadInvoice, RowProblem } from './reading.ts';

/** What was found out about an invoice of a file. */
export type Found = Pick<ImportedInvoice, 'verdict' | 'problems' | 'warnings' | 'invoiceId'>;

/** @param equal the invoice, if it is not known whether it was issued of this row or of an equal sale */
export function known(invoiceId: string, equal?: IssuedAs): Found {
  const warnings = equal ? [equalSale(invoiceId, equal)] : [];
  return { verdict: 'known', problems: [], warnings, invoiceId };
}

export function faulty(problem: RowProblem, invoiceId: string | null = null): Found {
  return { verdict: 'faulty', problems: [problem], warnings: [], invoiceId };
}

function equalSale(invoiceId: string, { number, date }: IssuedAs): ImportedInvoice['warnings'][number] {
  const called = number ?? invoiceId;
  const message = `An equal sale was issued as ${called} on ${date}. If this is another one, give it a number, or the number of its order.`;
  return { code: 'equal_sale', path: 'number', message, facts: { number: called, date } };
}

/** The warning of an invoice that is ready, and shares a line with one that was issued of other rows. */
export function similarSale(invoiceId: string, { number, date }: IssuedAs): ImportedInvoice['warnings'][number] {
  const called = number ?? invoiceId;
  const message = `A sale to the same customer with the same line was issued as ${called} on ${date}. Check that this is another one.`;
  return { code: 'similar_sale', path: 'lines', message, facts: { number: called, date } };
}

export function issuedFacts(invoiceId: string, issued: IssuedAs | null): RowProblem['facts'] {
  return { invoice: issued?.number ?? invoiceId, ...(issued?.number && { number: issued.number }) };
}

export function rejectedFacts({ number }: IssuedAs): RowProblem['facts'] {
  return { message: `number ${number} is taken by an invoice that was rejected. Use another one, or replace it.` };
}

export function numberOf({ number }: ReadInvoice['input']): string | null {
  return typeof number === 'string' && number !== '' ? number : null;
}

/** What the list of a file's invoices shows of an input. */
export function shownOf(
  input: Readonly<Record<string, unknown>>,
): Pick<ImportedInvoice, 'number' | 'customerName' | 'amount'> {
  const { amount, customer } = input;
  const name = (customer as { readonly name?: unknown } | null | undefined)?.name;
  return {
    number: numberOf(input),
    customerName: typeof name === 'string' ? name : null,
    amount: typeof amount === 'number' ? amount : null,
  };
}

export function ofNumber(read: ReadInvoice, code: string, facts: RowProblem['facts']): RowProblem {
  const { header, value, ...place } = cellOf(read, 'number');
  const named = { number: numberOf(read.input) ?? '', ...facts };
  return { place, header, value, code, param: 'number', facts: named };
}
