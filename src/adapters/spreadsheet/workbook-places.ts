import { posix } from 'node:path';
import type { Package, PackedFile } from '../workbook/unpack.ts';
import { attributeOf, textOfXml, type XmlPiece, xmlPieces } from './xml-pieces.ts';

/** The parts of a workbook that a result changes. */
export interface WorkbookPlaces {
  readonly sheet: PackedFile;
  /** Null if the workbook has no formats. */
  readonly styles: PackedFile | null;
}

/**
 * Finds the parts of a sheet by its name, through the relationships of the package (ECMA-376, part 2, section 9).
 * @throws if the workbook has no such sheet
 */
export async function workbookPlaces({ files }: Package, sheetName: string): Promise<WorkbookPlaces> {
  // Names of parts are equal without regard to case.
  const byPath = new Map(files.map((file) => [file.path.toLowerCase(), file]));
  const fileAt = (path: string) => byPath.get(path.toLowerCase()) ?? null;
  const [root] = await relationshipsOf(fileAt('_rels/.rels'), '');
  const book = root ? fileAt(root.target) : null;
  if (!book) throw new Error('the package has no workbook');
  const folder = posix.dirname(book.path);
  const relationships = await relationshipsOf(
    fileAt(posix.join(folder, '_rels', `${posix.basename(book.path)}.rels`)),
    folder,
  );
  const sheets = await tagsOf(book, 'sheet');
  const named = sheets.find((sheet) => textOfXml(attributeOf(sheet, 'name') ?? '') === sheetName);
  const id = named && attributeOf(named, '[^\\s:=]+:id');
  const at = relationships.find((each) => each.id === id);
  const sheet = at ? fileAt(at.target) : null;
  if (!sheet) throw new Error('the workbook has no such sheet');
  const styles = relationships.find(({ type }) => type === 'styles');
  return { sheet, styles: styles ? fileAt(styles.target) : null };
}

interface Relationship {
  readonly id: string | null;
  /** The last part of its type: `worksheet`. */
  readonly type: string;
  /** Path of the part. */
  readonly target: string;
}

/** The parts that hold the cells of a workbook; of the package, only the workbook. */
const TYPES = ['worksheet', 'styles'];

/** @param folder that of the part which has the relationships; empty: those of the package */
async function relationshipsOf(file: PackedFile | null, folder: string): Promise<Relationship[]> {
  if (!file) return [];
  const all = (await tagsOf(file, 'Relationship')).map((tag) => {
    const target = textOfXml(attributeOf(tag, 'Target') ?? '');
    return {
      id: attributeOf(tag, 'Id'),
      type: (attributeOf(tag, 'Type') ?? '').split('/').at(-1) ?? '',
      target: target.startsWith('/') ? target.slice(1) : posix.join(folder, target),
    };
  });
  return all.filter(({ type }) => (folder === '' ? type === 'officeDocument' : TYPES.includes(type)));
}

async function tagsOf(file: PackedFile, name: string): Promise<XmlPiece[]> {
  const tags: XmlPiece[] = [];
  for await (const pieces of xmlPieces(file.read(), [name]))
    tags.push(...pieces.filter(({ kind }) => kind === 'start' || kind === 'empty'));
  return tags;
}
