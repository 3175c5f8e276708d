import type { Problem } from '../errors.ts';
import { REPORTED } from './limits.ts';
import { cellOf } from './origins.ts';
import type { ReadInvoice, RowProblem } from './reading.ts';

/**
 * Returns the problems of an invoice in the order of its rows: those of its cells, and those that the API would report,
 * except the consequences of a cell that could not be read.
 */
export function problemsOfRows(read: ReadInvoice, ofInput: readonly Problem[]): RowProblem[] {
  const unread = read.problems.flatMap(({ param }) => param ?? []);
  const isUnclear = read.problems.some(({ param }) => param === null);
  const others = isUnclear ? [] : ofInput.filter((each) => !followsFrom(each.param, unread, read));
  return [...read.problems, ...others.map((each) => rowProblem(read, each))]
    .toSorted((a, b) => a.place.row - b.place.row)
    .slice(0, REPORTED.problems);
}

/** Whether a problem of this field comes from a cell that has a problem already. */
function followsFrom(param: string | null, unread: readonly string[], { input }: ReadInvoice): boolean {
  if (unread.length === 0) return false;
  // The total is a consequence if the file does not state it: it cannot be computed without all lines.
  if (param === 'amount') return input.amount === undefined;
  return param !== null && unread.some((each) => each === param || each.startsWith(`${param}.`));
}

/** Finds the place in the file of a problem of the API. */
export function rowProblem(
  read: Pick<ReadInvoice, 'origins' | 'sheet' | 'firstRow'>,
  { code, message, param, expected }: Problem,
): RowProblem {
  const { header, value, ...place } = cellOf(read, param);
  return { place, header, value, code, param, facts: { message, ...(expected !== undefined && { expected }) } };
}
