import type { DateOrder } from './dates.ts';
import type { DecimalSign } from './numbers.ts';
import type { RowFault } from './row-rules.ts';

/** How a file writes numbers and dates; null: as `decideSign` and `decideOrder` say. */
export interface Conventions {
  readonly decimalSign: DecimalSign | null;
  readonly dateOrder: DateOrder | null;
  /**
   * Whether a program of another language has turned the texts of dates that it could read into dates, with day and month
   * exchanged, and left the others: then a column has both.
   */
  readonly hasSwapped: boolean;
}

/** What is wrong with a cell. */
export interface CellFault {
  readonly fault: RowFault;
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** The value of a cell, for `createInvoiceInput`. Undefined: it states nothing, as a discount of 0 does. */
export type CellValue = { readonly value: string | number | boolean | undefined } | CellFault;
