import { PERCENT_PLACES, PRICE_PLACES, QUANTITY_PLACES } from '../decimal.ts';
import { folded } from '../invoice/search/fold.ts';
import { CURRENCY, MAX_CENTIMES } from '../money.ts';
import { type Cell, cellText, lineOf, plainNumber } from './cell.ts';
import type { CellFault, CellValue, Conventions } from './cell-value.ts';
import { type Choices, choiceOf } from './choices.ts';
import type { ColumnKind } from './columns.ts';
import { dateOf } from './dates.ts';
import { readIce } from './ice.ts';
import { IMPORT_LIMITS } from './limits.ts';
import { numberOf } from './numbers.ts';
import { readCancelled, readState, stateOf } from './read-state.ts';

/** Errors of formulas, as programs write them into CSV files. */
const ERROR = /^\s*(#(N\/A|REF!|VALUE!|VALEUR!|NAME\?|NOM\?|DIV\/0!|NUM!|NOMBRE!|NULL!|NUL!|SPILL!)|Err:\d{3})\s*$/;

/** Converts a cell that is not empty to the value of its column's kind. */
export function readValue(cell: Cell, kind: ColumnKind, conventions: Conventions, choices: Choices): CellValue {
  if (cell.kind === 'error' || (cell.kind === 'text' && ERROR.test(cell.text))) return { fault: 'cell_error' };
  if (cell.kind === 'uncomputed') return { fault: 'formula_not_computed' };
  if (cell.kind === 'volatile') return { fault: 'formula_volatile' };
  if (cell.kind === 'unseen') return { fault: 'shown_otherwise' };
  if (cell.kind === 'time') return { fault: kind === 'date' ? 'not_a_date' : 'is_time' };
  if (cell.kind === 'text' && cell.text.includes('\ufffd')) return { fault: 'bad_characters' };
  if (cell.kind === 'number' && cell.format === 'foreign')
    return { fault: 'foreign_currency', facts: { currency: CURRENCY } };
  if (cell.kind === 'text' && cell.text.length > IMPORT_LIMITS.cell)
    return { fault: 'cell_too_long', facts: { most: IMPORT_LIMITS.cell } };
  switch (kind) {
    // A key is only compared.
    case 'key':
      return isShortenedText(cell) ? { fault: 'digits_lost' } : { value: cellText(cell) };
    case 'number':
      return stateOf(cell) === 'not_final' ? { fault: 'not_final' } : readText(cell, 'line');
    case 'text':
    case 'line':
      return readText(cell, kind);
    case 'digits':
      return readDigits(cell);
    case 'ice':
      return readIce(cell);
    case 'quantity':
      return readNumber(cell, conventions, QUANTITY_PLACES, (plain) => Number(plain));
    case 'money':
      return readNumber(cell, conventions, 2, (plain) => centimesOf(plain) || undefined);
    case 'price':
      return readNumber(cell, conventions, PRICE_PLACES + 2, centimesOf);
    case 'percent':
      return readPercent(cell, conventions);
    case 'date':
      return readDate(cell, conventions);
    case 'sourceState':
      return readState(cell);
    case 'sourceCancelled':
      return readCancelled(cell);
    default:
      return choiceOf(cell, kind, choices);
  }
}

function readText(cell: Cell, kind: 'text' | 'line'): CellValue {
  if (cell.kind === 'day') return { fault: 'became_date' };
  if (cell.kind === 'number' && !cell.isPercent && plainNumber(cell.value) === null) return { fault: 'digits_lost' };
  if (cell.kind === 'number' && cell.format === 'shaped') return { fault: 'shown_otherwise' };
  if (isShortenedText(cell)) return { fault: 'digits_lost' };
  if (cell.kind !== 'text') return { value: cellText(cell) };
  if (kind === 'line') return { value: lineOf(cell.text) };
  return {
    value: cell.text
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(/[^\S\n]+/g, ' ')
      .trim(),
  };
}

/** Reads digits that people group with spaces. A spreadsheet keeps only the first 15 digits of a number. */
function readDigits(cell: Cell): CellValue {
  if (cell.kind === 'number') {
    const plain = plainNumber(cell.value);
    return plain === null || plain.length > 15 ? { fault: 'digits_lost' } : { value: plain };
  }
  if (cell.kind === 'day') return { fault: 'became_date' };
  const text = cellText(cell);
  if (isShortened(text)) return { fault: 'digits_lost' };
  return { value: folded(text).replaceAll(/[\s.-]/g, '') };
}

/** Whether a text is a long number that a program has shortened: `1,234E+14`. */
function isShortened(text: string): boolean {
  return /^\d([.,]\d+)?\s?[eE]\s?\+?\d{1,2}$/.test(text.trim());
}

/**
 * Whether a text is a long number that a program shortened in a CSV file: `1,23E+12`. `2E10` is not: products have such
 * names.
 */
function isShortenedText(cell: Cell): boolean {
  return cell.kind === 'text' && /^\d([.,]\d+)?E[+-]\d{2,3}$/.test(cell.text.trim());
}

/** Returns the number of a cell with a point, or the fault of the cell. */
function plainOf(
  cell: Cell,
  { decimalSign }: Conventions,
): { readonly plain: string; readonly isPercent: boolean } | CellFault {
  if (cell.kind === 'day') return { fault: 'became_date' };
  if (cell.kind === 'number') {
    const plain = plainNumber(cell.isPercent ? cell.value * 100 : cell.value);
    return plain === null ? { fault: 'number_too_large' } : { plain, isPercent: cell.isPercent };
  }
  if (cell.kind !== 'text') return { fault: 'not_a_number' };
  if (isShortened(cell.text)) return { fault: 'digits_lost' };
  const number = numberOf(lineOf(cell.text));
  if (number === null) return { fault: 'not_a_number' };
  if (number.isForeign) return { fault: 'foreign_currency', facts: { currency: CURRENCY } };
  const plain = number.plain ?? (decimalSign && number.bySign?.[decimalSign]);
  if (plain == null) {
    const { '.': point = '', ',': comma = '' } = number.bySign ?? {};
    return { fault: 'ambiguous_number', facts: { point, comma } };
  }
  return { plain, isPercent: number.isPercent };
}

function readNumber(
  cell: Cell,
  conventions: Conventions,
  places: number,
  convert: (plain: string) => number | undefined,
): CellValue {
  const read = plainOf(cell, conventions);
  if ('fault' in read) return read;
  return read.isPercent ? { fault: 'percent_unexpected' } : checked(read.plain, places, convert);
}

function checked(plain: string, places: number, convert: (plain: string) => number | undefined): CellValue {
  if (plain.startsWith('-')) return Number(plain) === 0 ? { value: convert('0') } : { fault: 'negative' };
  const [whole = '', decimals = ''] = plain.split('.');
  if (decimals.length > places) return { fault: 'too_many_decimals', facts: { most: places } };
  if (whole.length > 13) return { fault: 'number_too_large' };
  const value = convert(plain);
  if (value !== undefined && value > MAX_CENTIMES) return { fault: 'number_too_large' };
  return { value };
}

/** Converts dirhams to centimes: `1234.5678` → 123456.78. Shifts the digits, so that no rounding error occurs. */
function centimesOf(plain: string): number {
  const [whole = '', decimals = ''] = plain.split('.');
  const padded = decimals.padEnd(2, '0');
  return Number(`${whole}${padded.slice(0, 2)}.${padded.slice(2) || '0'}`);
}

/**
 * Reads a percentage. A cell that shows `20 %` is 20. A number between 0 and 1 without a percent sign is ambiguous: it
 * may be a percentage whose cell has lost its format.
 */
function readPercent(cell: Cell, conventions: Conventions): CellValue {
  const read = plainOf(cell, conventions);
  if ('fault' in read) return read;
  const value = Number(read.plain);
  if (!read.isPercent && value > 0 && value < 1) return { fault: 'ambiguous_percent' };
  return checked(read.plain, PERCENT_PLACES, (plain) => Number(plain) || undefined);
}

function readDate(cell: Cell, { dateOrder, hasSwapped }: Conventions): CellValue {
  if (cell.kind === 'day') {
    const [year, month = '', day = ''] = cell.day.split('-');
    if (!hasSwapped || Number(day) > 12 || day === month) return { value: cell.day };
    return { fault: 'date_may_be_swapped', facts: { dmy: cell.day, mdy: `${year}-${day}-${month}` } };
  }
  if (cell.kind === 'number') {
    const date = dateOf(cellText(cell));
    return date?.day ? { value: date.day } : { fault: 'date_without_format' };
  }
  if (cell.kind !== 'text') return { fault: 'not_a_date' };
  const date = dateOf(lineOf(cell.text));
  if (date === null) return { fault: 'not_a_date' };
  const day = date.day ?? (dateOrder && date.byOrder?.[dateOrder === 'mdy' ? 'mdy' : 'dmy']);
  if (day) return { value: day };
  const { dmy = '', mdy = '' } = date.byOrder ?? {};
  return { fault: 'ambiguous_date', facts: { dmy, mdy } };
}
