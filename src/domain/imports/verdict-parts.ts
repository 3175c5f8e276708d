import type { ImportedInvoice } from './import.ts';
import type { IssuedAs } from './invoicing.ts';
import { cellOf } from './origins.ts';
import type { ReadInvoice, RowProblem } from './reading.ts';

/** The verdict on an invoice of a file, with its problems and warnings. */
export type Found = Pick<ImportedInvoice, 'verdict' | 'problems' | 'warnings' | 'invoiceId'>;

/** @param equal how the invoice was issued, if it may belong to an equal sale instead of this row */
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

/** Returns the warning of a ready invoice that has a line in common with an invoice issued for other rows. */
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

/** Returns the parts of an input that the list of a file's invoices shows. */
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
