import { escaped, HEAD, MAIN, PACKAGE, RELATIONSHIPS } from './markup.ts';
import { type Style, styleId, stylesOf } from './styles.ts';

const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Returns the parts of a workbook, except its sheets, which are at {@link sheetPath}.
 * @param titles the names of the sheets: at most 31 characters, none of `[]:*?/\`
 */
export function workbookParts(titles: readonly string[], isRightToLeft: boolean): Readonly<Record<string, string>> {
  const overrides = titles.map(
    (_, nth) => `<Override PartName="/${sheetPath(nth)}" ContentType="${CONTENT}.worksheet+xml"/>\n`,
  );
  const sheets = titles.map(
    (title, nth) => `<sheet name="${escaped(title)}" sheetId="${nth + 1}" r:id="rId${nth + 1}"/>`,
  );
  const inWorkbook = titles.map((_, nth) => ['worksheet', sheetPath(nth).slice('xl/'.length)] as const);
  return {
    '[Content_Types].xml': `${HEAD}<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>
${overrides.join('')}<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>
</Types>`,
    '_rels/.rels': relationships(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}">
<sheets>${sheets.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relationships(...inWorkbook, ['styles', 'styles.xml']),
    'xl/styles.xml': stylesOf(isRightToLeft),
  };
}

/** @param nth from 0 */
export function sheetPath(nth: number): string {
  return `xl/worksheets/sheet${nth + 1}.xml`;
}

function relationships(...targets: readonly (readonly [type: string, target: string])[]): string {
  const rows = targets.map(
    ([type, target], i) => `<Relationship Id="rId${i + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
  );
  return `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${rows.join('')}</Relationships>`;
}

/** A column of a sheet. */
export interface SheetColumn {
  /** In characters. */
  readonly width: number;
  /** The format of its empty cells. */
  readonly style?: Style;
}

/**
 * Returns the markup before the rows. Prints are as wide as a page.
 * @param hasHeadings whether the first row stays in view
 */
export function sheetStart(columns: readonly SheetColumn[], isRightToLeft: boolean, hasHeadings = true): string {
  const direction = isRightToLeft ? ' rightToLeft="1"' : '';
  const pane = hasHeadings ? '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' : '';
  const written = columns.map(({ width, style }, i) => {
    const format = style === undefined ? '' : ` style="${styleId(style)}"`;
    return `<col min="${i + 1}" max="${i + 1}" width="${width}"${format} customWidth="1"/>`;
  });
  return `${HEAD}<worksheet xmlns="${MAIN}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView${direction} workbookViewId="0">
${pane}</sheetView></sheetViews>
<cols>${written.join('')}</cols><sheetData>`;
}

/**
 * Returns the markup after the rows.
 * @param rules elements that follow the rows of a sheet, such as `<dataValidations>`
 */
export function sheetEnd(rules = ''): string {
  return `</sheetData>${rules}<pageSetup orientation="landscape" fitToHeight="0"/></worksheet>`;
}
