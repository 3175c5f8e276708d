import { folded } from '../invoice/search/fold.ts';
import { type Cell, cellText, plainNumber } from './cell.ts';
import type { CellValue } from './cell-value.ts';

const DIGITS = 15;

/**
 * Reads an ICE. A spreadsheet that stored the ICE as a number has dropped its leading zeros, or shortened it to
 * `1.234E+14`. The zeros are restored if the check key (the number modulo 97) proves that only zeros are missing. Other
 * lost digits cannot be restored.
 */
export function readIce(cell: Cell): CellValue {
  if (cell.kind === 'day') return { fault: 'became_date' };
  if (cell.kind === 'number') {
    const plain = plainNumber(cell.value);
    if (plain === null || !/^\d{12,15}$/.test(plain)) return { fault: 'ice_as_number' };
    const ice = plain.padStart(DIGITS, '0');
    return hasCheckKey(ice) ? { value: ice } : { fault: 'ice_as_number' };
  }
  // People group the digits, and write `ICE` before them.
  const text = folded(cellText(cell)).replace(/^\s*I\.?C\.?E\.?\s*(?:n°)?\s*:?\s*/i, '');
  if (/^\d([.,]\d+)?\s?E\s?\+?\d{1,2}$/i.test(text)) return { fault: 'digits_lost' };
  const digits = text.replaceAll(/[\s.\-']/g, '');
  if (/^\d{9}0{6}$/.test(digits) && !hasCheckKey(digits)) return { fault: 'digits_lost' };
  if (/^\d{12,14}$/.test(digits)) {
    const ice = digits.padStart(DIGITS, '0');
    return { value: hasCheckKey(ice) ? ice : digits };
  }
  return { value: /^\d+$/.test(digits) ? digits : cellText(cell) };
}

function hasCheckKey(ice: string): boolean {
  return Number(ice) > 0 && BigInt(ice) % 97n === 0n;
}
