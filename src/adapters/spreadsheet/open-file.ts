import { open } from 'node:fs/promises';
import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { type ColumnMapping, UnreadableFile } from '../../domain/imports/reading.ts';
import type { FileFault } from '../../domain/imports/row-rules.ts';
import type { OpenFile } from '../../domain/imports/table.ts';
import { openCsv } from './read-csv.ts';
import { openWorkbook } from './read-workbook.ts';

/** Number of bytes at the beginning that show the file's format. */
const BEGINNING = 512;

/** The first bytes of other formats. */
const OTHERS: readonly (readonly [fault: FileFault, beginnings: readonly string[]])[] = [
  // Excel 2, 3 and 4: without a container.
  ['old_excel', ['\t\0\x04\0', '\t\x02\x06\0', '\t\x04\x06\0']],
  ['not_a_spreadsheet', ['%PDF', '\x89PNG', '\xff\xd8\xff', 'GIF8', '\x1f\x8b', 'Rar!', '7z\xbc\xaf', '{\\rtf']],
];
const WEB_PAGE = /^(ï»¿)?\s*(<(!doctype|html|head|body|table|\?xml|meta|!--|style)|mime-version:)/i;
/** The signatures of a ZIP file's first part, or of its end if it has none. */
const ZIP = ['PK\x03\x04', 'PK\x05\x06'];
/** The container of Excel 97 to 2003, and of workbooks with a password. */
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';

/** Opens a file according to its content, whatever its name. @throws {UnreadableFile} */
export async function openFile(file: string, mapping: ColumnMapping | null): Promise<OpenFile> {
  const { size, beginning } = await beginningOf(file);
  if (size === 0) throw new UnreadableFile('empty');
  if (size > IMPORT_LIMITS.fileBytes)
    throw new UnreadableFile('too_large', { most: IMPORT_LIMITS.fileBytes / 1024 / 1024 });
  if (ZIP.some((signature) => beginning.startsWith(signature))) return openWorkbook(file);
  if (beginning.startsWith(COMPOUND))
    throw new UnreadableFile((await isEncrypted(file, size)) ? 'encrypted' : 'old_excel');
  const other = OTHERS.find(([, beginnings]) => beginnings.some((each) => beginning.startsWith(each)));
  if (other) throw new UnreadableFile(other[0]);
  if (WEB_PAGE.test(beginning)) throw new UnreadableFile('web_page');
  return openCsv(file, mapping);
}

/** Returns the beginning of a file as characters of one byte each. */
async function beginningOf(file: string): Promise<{ readonly size: number; readonly beginning: string }> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0);
    return { size, beginning: buffer.toString('latin1', 0, bytesRead) };
  } finally {
    await handle.close();
  }
}

/** Whether a compound file contains a workbook with a password: its directory, in UTF-16, names the package. */
async function isEncrypted(file: string, size: number): Promise<boolean> {
  const name = Buffer.from('EncryptedPackage', 'utf16le');
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(Math.min(size, IMPORT_LIMITS.fileBytes)), 0);
    return buffer.includes(name);
  } finally {
    await handle.close();
  }
}
