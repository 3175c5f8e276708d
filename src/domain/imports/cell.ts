import { IMPORT_LIMITS, REPORTED } from './limits.ts';

/** The content of a cell, as the file stores it. */
export type Cell =
  /** At most one character more than `IMPORT_LIMITS.cell`. */
  | { readonly kind: 'text'; readonly text: string }
  /**
   * `isPercent`: the cell shows 0.2 as 20 %. `format`: the cell shows more than the number: another currency than the
   * dirham, or digits and letters that are not the number's, such as `FA-0007` for 7.
   */
  | {
      readonly kind: 'number';
      readonly value: number;
      readonly isPercent: boolean;
      readonly format: 'foreign' | 'shaped' | null;
    }
  /** A number that the cell shows as a date: `YYYY-MM-DD`. */
  | { readonly kind: 'day'; readonly day: string }
  /** A number that the cell shows as a time or a duration: `12:00` for half a day. */
  | { readonly kind: 'time'; readonly value: number }
  /** A number that the cell hides, or shows divided by thousands. */
  | { readonly kind: 'unseen'; readonly value: number }
  | { readonly kind: 'flag'; readonly value: boolean }
  /** `#N/A` */
  | { readonly kind: 'error'; readonly text: string }
  /** A formula without a value. */
  | { readonly kind: 'uncomputed' }
  /** The value of a formula that changes by itself, such as `=TODAY()`, and how the cell shows it. */
  | { readonly kind: 'volatile'; readonly shown: string };

/** A row of a sheet. */
export interface SheetRow {
  /** From 1. */
  readonly row: number;
  readonly isHidden: boolean;
  /** Up to the last cell with content. Null: empty, or only spaces. */
  readonly cells: readonly (Cell | null)[];
}

/** A range of merged cells. Rows count from 1, columns from 0; both ends are included. */
export interface MergedCells {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/**
 * Makes the cell of a text; null if it is empty. A text beyond the limit is cut to one character more than the limit.
 */
export function textCell(text: string): Cell | null {
  const cut = text.length > IMPORT_LIMITS.cell ? text.slice(0, IMPORT_LIMITS.cell + 1) : text;
  return /\S/.test(cut) ? { kind: 'text', text: cut } : null;
}

/**
 * Writes a number with a decimal point and at most 15 digits, as a spreadsheet shows it. The further digits of a
 * computed number are rounding errors: `0.1 + 0.2` → `0.3`.
 * @returns null for a number that is so small or so large that it needs an exponent
 */
export function plainNumber(value: number): string | null {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const text = String(Number(value.toPrecision(15)));
  return /^-?\d+(\.\d+)?$/.test(text) ? text : null;
}

/** Returns a cell as text on one line, for keys and messages. */
export function cellText(cell: Cell | null): string {
  if (cell === null) return '';
  switch (cell.kind) {
    case 'text':
    case 'error':
      return lineOf(cell.text);
    case 'number':
      if (cell.isPercent) return `${plainNumber(cell.value * 100) ?? cell.value * 100}%`;
      return plainNumber(cell.value) ?? String(cell.value);
    case 'time':
    case 'unseen':
      return plainNumber(cell.value) ?? String(cell.value);
    case 'day':
      return cell.day;
    case 'flag':
      return cell.value ? 'TRUE' : 'FALSE';
    case 'uncomputed':
      return '';
    case 'volatile':
      return cell.shown;
  }
}

/** Returns a cell's text for messages; null if the cell is empty. */
export function shownText(cell: Cell | null): string | null {
  const text = cellText(cell).toWellFormed();
  if (text === '') return null;
  return text.length <= REPORTED.value ? text : `${[...text].slice(0, REPORTED.value - 1).join('')}…`;
}

/** Puts a text on one line, with single spaces. No-break spaces and marks of text direction count as spaces. */
export function lineOf(text: string): string {
  return text.replaceAll(/[\s\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g, ' ').trim();
}
