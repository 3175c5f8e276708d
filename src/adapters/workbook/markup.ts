import { columnName } from '../../text/column-name.ts';

// What all parts of a workbook have in common (ECMA-376, part 1, section 18, and part 2).

export const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
export const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** Maximum number of characters of a cell. */
const CELL_CHARACTERS = 32_767;

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes a text. Leaves out characters that XML does not allow. `_x0041_` would be read as the character with that
 * code (section 22.9.2.19), so its first character is written in that form.
 */
export function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, '')
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character)
    .replaceAll('\r', '&#13;');
}

/** Returns a text as the content of a cell, keeping its spaces. Shortens it to the maximum length of a cell. */
export function inlineText(text: string, prefix = ''): string {
  const short = text.length > CELL_CHARACTERS ? `${text.slice(0, CELL_CHARACTERS - 1)}…` : text;
  return `<${prefix}is><${prefix}t xml:space="preserve">${escaped(short)}</${prefix}t></${prefix}is>`;
}

/** `A1` for the first column and row. @param column from 0 @param row from 1 */
export function placeOf(column: number, row: number): string {
  return `${columnName(column)}${row}`;
}
