import { UnreadableFile } from '../../domain/imports/reading.ts';
import type { OpenFile, Table } from '../../domain/imports/table.ts';
import { type CellContext, readSheet } from './read-sheet.ts';
import { readStrings } from './read-strings.ts';
import { readStyles } from './read-styles.ts';
import { attributeOf, readWholeXml } from './read-xml.ts';
import { openParts, type Parts } from './read-zip.ts';

/** A relationship of a part to another. */
interface Relationship {
  /** The last part of its type, which is the same in both namespaces of the standard. */
  readonly type: string;
  readonly path: string;
}

interface SheetEntry {
  readonly name: string;
  readonly id: string;
  readonly isHidden: boolean;
}

/** Longest name of a sheet; the standard allows 31 characters. */
const LONGEST_NAME = 100;
const MOST_SHEETS = 500;
const MOST_RELATIONSHIPS = 10_000;

/**
 * Opens a workbook (ECMA-376). One with macros or with links to other sources is refused: what it shows may depend on
 * what is not in the file.
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
  const root = [...(await relationshipsOf(parts, '')).values()];
  const workbook = root.find(({ type, path }) => type === 'officeDocument' && parts.paths.has(path))?.path;
  if (workbook === undefined || !/\.xml$/i.test(workbook)) throw new UnreadableFile('not_a_spreadsheet');
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
    // A chart on a sheet of its own has another type.
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

async function sheetsOf(
  parts: Parts,
  workbook: string,
): Promise<{ readonly sheets: readonly SheetEntry[]; readonly dateSystem: 1900 | 1904 }> {
  const sheets: SheetEntry[] = [];
  let dateSystem: 1900 | 1904 = 1900;
  await readWholeXml(parts.read(workbook), {
    open(name, attributes) {
      if (name === 'workbookPr' && /^(1|true)$/.test(attributes.date1904 ?? '')) dateSystem = 1904;
      if (name !== 'sheet') return;
      const isHidden = !['visible', undefined].includes(attributes.state);
      sheets.push({
        name: (attributes.name ?? '').slice(0, LONGEST_NAME),
        id: Object.entries(attributes).find(([each]) => each.endsWith(':id'))?.[1] ?? '',
        isHidden,
      });
      if (sheets.length > MOST_SHEETS) throw new UnreadableFile('too_costly');
    },
  });
  return { sheets, dateSystem };
}

/** Reads the relationships of a part by their ids. @param path empty: those of the whole file */
async function relationshipsOf(parts: Parts, path: string): Promise<ReadonlyMap<string, Relationship>> {
  const slash = path.lastIndexOf('/');
  const folder = path.slice(0, slash + 1);
  const own = `${folder}_rels/${path.slice(slash + 1)}.rels`;
  const found = new Map<string, Relationship>();
  if (!parts.paths.has(own)) return found;
  await readWholeXml(parts.read(own), {
    open(name, attributes) {
      if (name !== 'Relationship' || attributes.TargetMode === 'External') return;
      if (found.size >= MOST_RELATIONSHIPS) throw new UnreadableFile('too_costly');
      const target = attributeOf(attributes, 'Target') ?? '';
      found.set(attributes.Id ?? '', {
        type: (attributes.Type ?? '').split('/').at(-1) ?? '',
        path: target.startsWith('/') ? target.slice(1) : resolved(folder, target),
      });
    },
  });
  return found;
}

function resolved(folder: string, target: string): string {
  const names: string[] = [];
  for (const name of `${folder}${target}`.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '.' && name !== '') names.push(name);
  }
  return names.join('/');
}
