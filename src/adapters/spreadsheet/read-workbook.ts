import { UnreadableFile } from '../../domain/imports/reading.ts';
import type { OpenFile, Table } from '../../domain/imports/table.ts';
import { type CellContext, readSheet } from './read-sheet.ts';
import { readStrings } from './read-strings.ts';
import { readStyles } from './read-styles.ts';
import { openParts, type Parts } from './read-zip.ts';
import { relationshipsOf, sheetsOf, workbookPath } from './workbook-parts.ts';

/**
 * Opens a workbook (ECMA-376). A workbook with macros or with links to other sources is refused, because its values may
 * depend on data outside the file.
 * @throws {UnreadableFile}
 */
export async function openWorkbook(file: string): Promise<OpenFile> {
  const parts = await openParts(file);
  try {
    refuseOthers(parts.paths);
    return await workbookOf(parts);
  } catch (error) {
    parts.close();
    throw error;
  }
}

function refuseOthers(paths: ReadonlySet<string>): void {
  const has = (pattern: RegExp) => paths.values().some((path) => pattern.test(path));
  if (has(/(^|\/)vbaProject\.bin$/i) || has(/^xl\/(macrosheets|dialogsheets)\//i)) throw new UnreadableFile('macros');
  if (has(/^xl\/workbook\.bin$/i)) throw new UnreadableFile('old_excel');
  if (paths.has('content.xml') && paths.has('META-INF/manifest.xml')) throw new UnreadableFile('open_document');
  if (!paths.has('_rels/.rels') || !paths.has('[Content_Types].xml')) throw new UnreadableFile('not_a_spreadsheet');
  if (has(/^xl\/(externalLinks\/|connections\.xml$|queryTables\/)/i)) throw new UnreadableFile('external_links');
}

async function workbookOf(parts: Parts): Promise<OpenFile> {
  const workbook = await workbookPath(parts);
  const related = await relationshipsOf(parts, workbook);
  const pathOf = (type: string) =>
    related.values().find((each) => each.type === type && parts.paths.has(each.path))?.path;
  const { sheets, dateSystem } = await sheetsOf(parts, workbook);
  if (sheets.length === 0) throw new UnreadableFile(workbook.startsWith('xl/') ? 'no_sheet' : 'not_a_spreadsheet');
  const [strings, styles] = [pathOf('sharedStrings'), pathOf('styles')];
  const context: CellContext = {
    strings: strings === undefined ? [] : await readStrings(parts.read(strings)),
    styles: styles === undefined ? [] : await readStyles(parts.read(styles)),
    dateSystem,
  };
  const tables = sheets.flatMap(({ name, id, isHidden }): Table[] => {
    const sheet = related.get(id);
    // A sheet that is only a chart has another type.
    if (isHidden || sheet?.type !== 'worksheet') return [];
    return [{ sheet: name, rows: (onMerged) => readSheet(parts.read(sheet.path), context, onMerged) }];
  });
  if (tables.length === 0) throw new UnreadableFile('no_sheet');
  return {
    form: { format: 'xlsx', encoding: null, separator: null, dateSystem },
    tables,
    close: async () => parts.close(),
  };
}
