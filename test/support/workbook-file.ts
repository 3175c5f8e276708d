import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

// Makes workbooks (ECMA-376) for tests part by part, so that a test determines what each part contains.

/** A cell: a text, a number, or its XML without a cell reference, such as `<c t="b"><v>1</v></c>`. */
export type SheetCell = string | number | null | { readonly xml: string };

export interface SheetParts {
  readonly name?: string;
  readonly rows: readonly (readonly SheetCell[])[];
  /** Rows from 1. */
  readonly hidden?: readonly number[];
  readonly merged?: readonly string[];
  readonly state?: 'hidden' | 'veryHidden';
}

export interface WorkbookParts {
  readonly sheets: readonly SheetParts[];
  readonly date1904?: boolean;
  /** Whether texts are in a separate part, as Excel writes them. */
  readonly isShared?: boolean;
  /** Further parts, which may replace the generated ones. */
  readonly parts?: Readonly<Record<string, string | Buffer>>;
}

/** The styles of cells by their index: none, a date, a percentage, a date with a custom format, an amount in red. */
const STYLE = { date: 1, percent: 2, ownDate: 3, amount: 4 } as const;

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

const STYLES = `<styleSheet xmlns="${MAIN}"><numFmts count="2">
<numFmt numFmtId="164" formatCode="[$-40C]d\\ mmmm\\ yyyy;@"/><numFmt numFmtId="165" formatCode="#,##0.00&quot; dirhams&quot;;[Red]-#,##0.00"/>
</numFmts><cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="14"/>
<xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`;

/** Makes a number with a style. */
export function styled(value: number, style: keyof typeof STYLE): SheetCell {
  return { xml: `<c s="${STYLE[style]}"><v>${value}</v></c>` };
}

function escapedXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Makes a workbook. */
export function workbookFile({ sheets, date1904, isShared, parts }: WorkbookParts): Promise<Buffer> {
  const strings: string[] = [];
  const own = Object.fromEntries(
    sheets.map((sheet, nth) => [`xl/worksheets/sheet${nth + 1}.xml`, sheetXml(sheet, isShared ? strings : null)]),
  );
  const relations = sheets.map((_, nth) => ['worksheet', `worksheets/sheet${nth + 1}.xml`] as const);
  const entries = sheets.map(
    ({ name, state }, nth) =>
      `<sheet name="${escapedXml(name ?? `Feuil${nth + 1}`)}" sheetId="${nth + 1}" r:id="rId${nth + 1}"${state ? ` state="${state}"` : ''}/>`,
  );
  return zipFile({
    '[Content_Types].xml': contentTypes([...Object.keys(own), ...(isShared ? [STRINGS] : [])]),
    '_rels/.rels': relationsXml([['officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr${date1904 ? ' date1904="1"' : ''}/><sheets>${entries.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationsXml([
      ...relations,
      ['styles', 'styles.xml'],
      ...(isShared ? [['sharedStrings', 'sharedStrings.xml'] as const] : []),
    ]),
    'xl/styles.xml': STYLES,
    ...own,
    ...(isShared && {
      [STRINGS]: `<sst xmlns="${MAIN}">${strings.map((text) => `<si><t xml:space="preserve">${escapedXml(text)}</t></si>`).join('')}</sst>`,
    }),
    ...parts,
  });
}

const STRINGS = 'xl/sharedStrings.xml';
const SPREADSHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Makes the part that states the type of each part, without which LibreOffice does not open a workbook.
 * @param paths of the sheets and of the texts
 */
function contentTypes(paths: readonly string[]): string {
  const parts = [
    ['xl/workbook.xml', 'sheet.main'],
    ['xl/styles.xml', 'styles'],
    ...paths.map((path) => [path, path === STRINGS ? 'sharedStrings' : 'worksheet']),
  ];
  const overrides = parts.map(
    ([path, type]) => `<Override PartName="/${path}" ContentType="${SPREADSHEET}.${type}+xml"/>`,
  );
  const defaults = [
    ['rels', 'application/vnd.openxmlformats-package.relationships+xml'],
    ['xml', 'application/xml'],
  ].map(([extension, type]) => `<Default Extension="${extension}" ContentType="${type}"/>`);
  return `<Types xmlns="${PACKAGE}/content-types">${[...defaults, ...overrides].join('')}</Types>`;
}

export function relationsXml(relations: readonly (readonly [type: string, target: string])[]): string {
  const rows = relations.map(
    ([type, target], nth) => `<Relationship Id="rId${nth + 1}" Type="${RELATIONS}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${rows.join('')}</Relationships>`;
}

/** Makes the XML of a sheet. @param strings collects the texts; null: texts are written into the cells */
function sheetXml({ rows, hidden = [], merged = [] }: SheetParts, strings: string[] | null): string {
  const written = rows.map((cells, nth) => {
    if (cells.length === 0) return '';
    const isHidden = hidden.includes(nth + 1) ? ' hidden="1"' : '';
    return `<row r="${nth + 1}"${isHidden}>${cells.map((cell, column) => cellXml(cell, `${letter(column)}${nth + 1}`, strings)).join('')}</row>`;
  });
  const merges = merged.map((range) => `<mergeCell ref="${range}"/>`).join('');
  return sheetOf(written.join(''), merges && `<mergeCells>${merges}</mergeCells>`);
}

/** Makes the part of a sheet. @param rows XML */
export function sheetOf(rows: string, after = ''): string {
  return `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData>${after}</worksheet>`;
}

function cellXml(cell: SheetCell, place: string, strings: string[] | null): string {
  if (cell === null) return '';
  if (typeof cell === 'object') return cell.xml.replace('<c', `<c r="${place}"`);
  if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`;
  if (strings === null)
    return `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escapedXml(cell)}</t></is></c>`;
  if (!strings.includes(cell)) strings.push(cell);
  return `<c r="${place}" t="s"><v>${strings.indexOf(cell)}</v></c>`;
}

function letter(column: number): string {
  return `${column < 26 ? '' : String.fromCharCode(64 + Math.floor(column / 26))}${String.fromCharCode(65 + (column % 26))}`;
}

/** Packs parts into a ZIP file with constant times. */
export function zipFile(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(parts))
    zip.addBuffer(Buffer.from(content as string), path, { mtime: new Date(2026, 0, 1), forceDosTimestamp: true });
  zip.end();
  return buffer((zip as unknown as { readonly outputStream: Readable }).outputStream);
}
