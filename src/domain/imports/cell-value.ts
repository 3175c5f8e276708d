import type { DateOrder } from './dates.ts';
import type { DecimalSign } from './numbers.ts';
import type { RowFault } from './row-rules.ts';

/** How a file writes numbers and dates. Null: not clear; see `decideSign` and `decideOrder`. */
export interface Conventions {
  readonly decimalSign: DecimalSign | null;
  readonly dateOrder: DateOrder | null;
  /**
   * Whether a column mixes dates and texts, because a program of another language converted some texts to dates, with
   * day and month exchanged, and left the others.
   */
  readonly hasSwapped: boolean;
}

/** The fault of a cell. */
export interface CellFault {
  readonly fault: RowFault;
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** The value of a cell, for `createInvoiceInput`. Undefined: the cell states nothing, such as a discount of 0. */
export type CellValue = { readonly value: string | number | boolean | undefined } | CellFault;
