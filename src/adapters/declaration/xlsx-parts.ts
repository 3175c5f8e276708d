import { DAY_MS } from '../../domain/durations.ts';
import { decimalOf } from '../../domain/money.ts';
import type { Cell } from '../../text/csv.ts';

// The XML of a spreadsheet with one sheet (ECMA-376, part 1, section 18).

const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** The formats of cells: their places in `cellXfs` of {@link STYLES}. */
const STYLE = { text: 1, amount: 2, day: 3, heading: 4, sum: 5 } as const;
type Style = keyof typeof STYLE;

/** Formats 49, 4 and 14 are built in: text, `#,##0.00`, and the short date of the reader's language. */
export const STYLES = `${HEAD}<styleSheet xmlns="${MAIN}">
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="6">
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>
<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>
<xf numFmtId="4" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>
</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;

/** Returns the parts around the sheet `xl/worksheets/sheet1.xml`, except the styles. */
export const WORKBOOK_PARTS = (title: string): Readonly<Record<string, string>> => ({
  '[Content_Types].xml': `${HEAD}<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${CONTENT}.worksheet+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>
</Types>`,
  '_rels/.rels': relationships(['officeDocument', 'xl/workbook.xml']),
  'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}">
<sheets><sheet name="${escaped(title)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': relationships(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml']),
});

function relationships(...targets: readonly (readonly [type: string, target: string])[]): string {
  const rows = targets.map(
    ([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
  );
  return `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${rows.join('')}</Relationships>`;
}

/** Returns what precedes the rows. The first row stays in view. @param widths of the columns, in characters */
export function sheetStart(widths: readonly number[], isRightToLeft: boolean): string {
  const direction = isRightToLeft ? ' rightToLeft="1"' : '';
  const columns = widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`);
  return `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView${direction} workbookViewId="0">
<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>
<cols>${columns.join('')}</cols><sheetData>`;
}

/** Returns what follows the rows. */
export function sheetEnd(): string {
  return '</sheetData></worksheet>';
}

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
export function textCell(column: number, row: number, text: string, style: 'text' | 'heading'): string {
  const start = `<c r="${placeOf(column, row)}" s="${STYLE[style]}" t="inlineStr">`;
  return `${start}<is><t xml:space="preserve">${escaped(text)}</t></is></c>`;
}

/** Returns the cell of an amount in centimes. */
export function amountCell(column: number, row: number, centimes: number | bigint, style: 'amount' | 'sum'): string {
  return numberCell(column, row, decimalOf(centimes), style);
}

function numberCell(column: number, row: number, number: string, style: Style): string {
  return `<c r="${placeOf(column, row)}" s="${STYLE[style]}"><v>${number}</v></c>`;
}

/** `A1` for the first column and row. @param column from 0, below 26² @param row from 1 */
function placeOf(column: number, row: number): string {
  const letter = (index: number) => String.fromCharCode(65 + index);
  return `${column < 26 ? '' : letter(Math.floor(column / 26) - 1)}${letter(column % 26)}${row}`;
}

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Escapes a text. What XML cannot have is left out. `_x0041_` would be read as the character with that code (section
 * 22.9.2.19), so its first character is written in that form.
 */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Cc}|[\ufffe\uffff]/gu, '')
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character)
    .replaceAll('\r', '&#13;');
}
