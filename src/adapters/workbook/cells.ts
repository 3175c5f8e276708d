import { DAY_MS } from '../../domain/durations.ts';
import { decimalOf } from '../../domain/money.ts';
import type { Cell } from '../../text/csv.ts';
import { inlineText, placeOf } from './markup.ts';
import { type Style, styleId } from './styles.ts';

/** Returns a row. @param row its number, from 1 */
export function rowOf(row: number, cells: readonly string[]): string {
  return `<row r="${row}">${cells.join('')}</row>`;
}

/** Returns the cell of a value; empty for null. @param column from 0 @param row from 1 */
export function valueCell(column: number, row: number, value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'string') return textCell(column, row, value, 'text');
  if (typeof value === 'number') return amountCell(column, row, value, 'amount');
  return numberCell(column, row, String(Date.parse(`${value.day}T00:00:00Z`) / DAY_MS + EPOCH_SERIAL), 'day');
}

/** 1 January 1970 as spreadsheets count days. */
const EPOCH_SERIAL = 25_569;

/** Returns the cell of a text, which no spreadsheet takes for a formula or a number. */
export function textCell(column: number, row: number, text: string, style: Style): string {
  return `<c r="${placeOf(column, row)}" s="${styleId(style)}" t="inlineStr">${inlineText(text)}</c>`;
}

/** Returns the cell of an amount in centimes. */
export function amountCell(column: number, row: number, centimes: number | bigint, style: 'amount' | 'sum'): string {
  return numberCell(column, row, decimalOf(centimes), style);
}

/** Returns the cell of a number. @param number with a decimal point */
export function numberCell(column: number, row: number, number: string, style: Style): string {
  return `<c r="${placeOf(column, row)}" s="${styleId(style)}"><v>${number}</v></c>`;
}
