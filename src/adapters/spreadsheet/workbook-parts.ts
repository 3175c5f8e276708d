import { UnreadableFile } from '../../domain/imports/reading.ts';
import { attributeOf, readWholeXml } from './read-xml.ts';
import type { Parts } from './read-zip.ts';

/** A relationship of a part to another. */
interface Relationship {
  /** The last part of its type URI, which is the same in both namespaces of the standard. */
  readonly type: string;
  readonly path: string;
}

interface SheetEntry {
  readonly name: string;
  readonly id: string;
  readonly isHidden: boolean;
}

/** Maximum length of a sheet's name that is read; the standard allows 31 characters. */
const LONGEST_NAME = 100;
const MOST_SHEETS = 500;
const MOST_RELATIONSHIPS = 10_000;

/** Finds the part that lists the sheets. @throws {UnreadableFile} */
export async function workbookPath(parts: Parts): Promise<string> {
  const root = [...(await relationshipsOf(parts, '')).values()];
  const workbook = root.find(({ type, path }) => type === 'officeDocument' && parts.paths.has(path))?.path;
  if (workbook === undefined || !/\.xml$/i.test(workbook)) throw new UnreadableFile('not_a_spreadsheet');
  return workbook;
}

/** Reads the names of the sheets, and the year from which days are counted. @throws {UnreadableFile} */
export async function sheetsOf(
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

/** Reads the relationships of a part by their ids. @param path of the part; empty for those of the whole file */
export async function relationshipsOf(parts: Parts, path: string): Promise<ReadonlyMap<string, Relationship>> {
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
