import { crc32, deflateRawSync } from 'node:zlib';
import { IMPORT_LIMITS } from '../../src/domain/imports/limits.ts';
import type { FileFault } from '../../src/domain/imports/row-rules.ts';
import { relationsXml, sheetOf, workbookFile, zipFile } from './workbook-file.ts';

/** A file that is harmful or cannot be read, and the reason for its refusal. */
export interface HostileFile {
  readonly what: string;
  readonly fault: FileFault;
  readonly make: () => Buffer | Promise<Buffer>;
}

const HEAD = ['Facture', 'Client', 'Désignation', 'PU HT'];
const HEAD_XML = `<row r="1">${HEAD.map((text) => `<c t="str"><v>${text}</v></c>`).join('')}</row>`;
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** A workbook with one sheet of this XML. */
const withSheet = (sheet: string | Buffer, parts: Readonly<Record<string, string | Buffer>> = {}) =>
  workbookFile({ sheets: [{ rows: [HEAD] }], parts: { 'xl/worksheets/sheet1.xml': sheet, ...parts } });
const withParts = (parts: Readonly<Record<string, string | Buffer>>) =>
  workbookFile({ sheets: [{ rows: [HEAD] }], parts });
const csvOf = (...rows: readonly string[]) => Buffer.from([HEAD.join(';'), ...rows].join('\r\n'));

/** An entry of a ZIP file with the statements of its headers, which need not match its content. */
interface RawEntry {
  readonly path: string;
  readonly content: Buffer;
  readonly size?: number;
  readonly sum?: number;
  readonly method?: number;
  readonly flags?: number;
}

/** Writes a ZIP file without checking anything. */
function rawZip(entries: readonly RawEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content, size = content.length, sum = crc32(content), method = 8, flags = 0 } of entries) {
    const packed = method === 8 ? deflateRawSync(content, { level: 1 }) : content;
    const name = Buffer.from(path);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(sum, 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(size, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, name, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), fields, place, name]));
    files.push(local);
    offset += local.length;
  }
  const entriesOf = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(entriesOf.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, entriesOf, Buffer.from('PK\x05\x06'), end]);
}

/** Makes the parts of a workbook, one of which the test determines. */
function rawWorkbook(sheet: Omit<RawEntry, 'path'>): Buffer {
  const part = (path: string, text: string): RawEntry => ({ path, content: Buffer.from(text) });
  return rawZip([
    part('[Content_Types].xml', '<Types/>'),
    part('_rels/.rels', relationsXml([['officeDocument', 'xl/workbook.xml']])),
    part('xl/workbook.xml', '<workbook xmlns:r="r"><sheets><sheet name="F" r:id="rId1"/></sheets></workbook>'),
    part('xl/_rels/workbook.xml.rels', relationsXml([['worksheet', 'worksheets/sheet1.xml']])),
    { path: 'xl/worksheets/sheet1.xml', ...sheet },
  ]);
}

function compound(name: string): Buffer {
  const file = Buffer.alloc(4096);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  Buffer.from(name, 'utf16le').copy(file, 1024);
  return file;
}

const LAUGHS = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 20 }, (_, i) => `<!ENTITY a${i} "${`&a${i === 0 ? '' : i - 1};`.repeat(10)}">`).join('')}]>`;
const EXTERNAL_ENTITY = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>';
const SPACES = Buffer.alloc(150 * 1024 * 1024, 0x20);

export const HOSTILE_FILES: readonly HostileFile[] = [
  { what: 'nothing', fault: 'empty', make: () => Buffer.alloc(0) },
  {
    what: 'a file beyond the size limit',
    fault: 'too_large',
    make: () => Buffer.alloc(IMPORT_LIMITS.fileBytes + 1, 0x61),
  },
  {
    what: 'a sheet that unpacks to 1 GiB',
    fault: 'too_much_unpacked',
    make: () => rawWorkbook({ content: Buffer.alloc(1000), size: 1024 ** 3 }),
  },
  {
    what: 'a sheet that unpacks to more than it states',
    fault: 'damaged',
    make: () => rawWorkbook({ content: Buffer.from(sheetOf(`${HEAD_XML}${' '.repeat(50_000_000)}`)), size: 1000 }),
  },
  {
    what: '150 MiB of spaces in a cell',
    fault: 'damaged',
    make: () =>
      rawWorkbook({
        content: Buffer.concat([
          Buffer.from(`<worksheet><sheetData>${HEAD_XML}<row r="2"><c t="str"><v>`),
          SPACES,
          Buffer.from('</v></c></row></sheetData></worksheet>'),
        ]),
      }),
  },
  {
    what: '150 MiB of spaces in a comment',
    fault: 'damaged',
    make: () =>
      rawWorkbook({ content: Buffer.concat([Buffer.from('<worksheet><!--'), SPACES, Buffer.from('--></worksheet>')]) }),
  },
  {
    what: 'a million empty rows',
    fault: 'too_many_empty_rows',
    make: () => withSheet(sheetOf(`${HEAD_XML}${Array.from({ length: 1_000_000 }, () => '<row/>').join('')}`)),
  },
  {
    what: 'a million empty cells and rows',
    fault: 'too_many_empty_rows',
    make: () => withSheet(sheetOf(`${HEAD_XML}${'<row><c/></row>'.repeat(1_000_000)}`)),
  },
  {
    what: 'a CSV file of a million empty rows',
    fault: 'too_many_empty_rows',
    make: () => csvOf(';;;\r\n'.repeat(1_000_000)),
  },
  {
    what: '10,000 columns',
    fault: 'too_many_columns',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row>${'<c><v>1</v></c>'.repeat(10_000)}</row>`)),
  },
  { what: 'a CSV file of 10,000 columns', fault: 'too_many_columns', make: () => csvOf('x;'.repeat(10_000)) },
  {
    what: 'a CSV file of 100,001 rows',
    fault: 'too_many_rows',
    make: () => csvOf(';;Thé;1,5\r\n'.repeat(100_001)),
  },
  {
    what: '10,001 invoices',
    fault: 'too_many_invoices',
    make: () => csvOf(...Array.from({ length: 10_001 }, (_, nth) => `F${nth};Rif;Thé;1,5`)),
  },
  {
    what: 'links to other workbooks',
    fault: 'external_links',
    make: () => withParts({ 'xl/externalLinks/externalLink1.xml': '<externalLink/>' }),
  },
  {
    what: 'connections to data',
    fault: 'external_links',
    make: () => withParts({ 'xl/connections.xml': '<connections/>' }),
  },
  { what: 'macros', fault: 'macros', make: () => withParts({ 'xl/vbaProject.bin': Buffer.alloc(100) }) },
  { what: 'macros of Excel 4', fault: 'macros', make: () => withParts({ 'xl/macrosheets/sheet1.xml': '<xm/>' }) },
  { what: 'a ZIP file that is cut off', fault: 'damaged', make: async () => (await withParts({})).subarray(0, -200) },
  {
    what: 'a sheet that is cut off',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row><c t="str"><v>F1</v></c></row>`).slice(0, -40)),
  },
  {
    what: 'a wrong check sum',
    fault: 'damaged',
    make: () => rawWorkbook({ content: Buffer.from(sheetOf(HEAD_XML)), sum: 1 }),
  },
  {
    what: 'a compression that nobody uses',
    fault: 'damaged',
    make: () => rawWorkbook({ content: Buffer.from(sheetOf(HEAD_XML)), method: 12 }),
  },
  {
    what: 'a part with a password',
    fault: 'encrypted',
    make: () => rawWorkbook({ content: Buffer.from(sheetOf(HEAD_XML)), flags: 1 }),
  },
  {
    what: 'a workbook in a ZIP file',
    fault: 'not_a_spreadsheet',
    make: async () => zipFile({ 'factures.xlsx': await withParts({}) }),
  },
  {
    what: 'a part twice',
    fault: 'damaged',
    make: () => rawZip([1, 2].map(() => ({ path: '_rels/.rels', content: Buffer.from('<a/>') }))),
  },
  {
    what: 'a part outside',
    fault: 'damaged',
    make: () => rawZip([{ path: '../../etc/passwd', content: Buffer.from('x') }]),
  },
  {
    what: 'too many parts',
    fault: 'too_many_parts',
    make: () =>
      rawZip(Array.from({ length: 2001 }, (_, nth) => ({ path: `${nth}`, content: Buffer.alloc(0), method: 0 }))),
  },
  {
    what: 'entities that multiply',
    fault: 'damaged',
    make: () =>
      withSheet(
        `<?xml version="1.0"?>${LAUGHS}<worksheet><sheetData><row><c t="str"><v>&a19;</v></c></row></sheetData></worksheet>`,
      ),
  },
  {
    what: 'an entity of another file',
    fault: 'damaged',
    make: () =>
      withParts({
        'xl/workbook.xml': `<?xml version="1.0"?>${EXTERNAL_ENTITY}<workbook><sheets><sheet name="&a;"/></sheets></workbook>`,
      }),
  },
  {
    what: 'an entity without definition',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row><c t="str"><v>&eacute;</v></c></row>`)),
  },
  {
    what: 'elements a thousand deep',
    fault: 'damaged',
    make: () => withSheet(`<worksheet>${'<a>'.repeat(1000)}${'</a>'.repeat(1000)}</worksheet>`),
  },
  {
    what: 'rows out of order',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row r="3"/><row r="2"/>`)),
  },
  {
    what: 'a place that no sheet has',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row r="2"><c r="ZZZ2"><v>1</v></c></row>`)),
  },
  {
    what: 'a text that is not there',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row r="2"><c t="s"><v>4000000000</v></c></row>`)),
  },
  {
    what: 'a number that is none',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row r="2"><c><v>1e999</v></c></row>`)),
  },
  {
    what: 'half a character',
    fault: 'damaged',
    make: () => withSheet(sheetOf(`${HEAD_XML}<row r="2"><c t="str"><v>&#xD800;</v></c></row>`)),
  },
  {
    what: 'bytes that are no UTF-8',
    fault: 'damaged',
    make: () =>
      withSheet(Buffer.concat([Buffer.from('<worksheet>'), Buffer.of(0xc3, 0x28), Buffer.from('</worksheet>')])),
  },
  {
    what: 'a million styles',
    fault: 'too_costly',
    make: () =>
      withParts({
        'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><cellXfs>${'<xf/>'.repeat(1_000_000)}</cellXfs></styleSheet>`,
      }),
  },
  {
    what: 'a million merged cells',
    fault: 'too_costly',
    make: () =>
      withSheet(sheetOf(HEAD_XML, `<mergeCells>${'<mergeCell ref="A1:A2"/>'.repeat(1_000_000)}</mergeCells>`)),
  },
  { what: 'a workbook with a password', fault: 'encrypted', make: () => compound('EncryptedPackage') },
  { what: 'a workbook of Excel 97', fault: 'old_excel', make: () => compound('Workbook') },
  {
    what: 'a workbook of Excel 3',
    fault: 'old_excel',
    make: () => Buffer.from('\t\x02\x06\x00\x00\x00\x10\x00\x00\x00', 'latin1'),
  },
  { what: 'a binary workbook', fault: 'old_excel', make: () => withParts({ 'xl/workbook.bin': Buffer.alloc(10) }) },
  {
    what: 'an OpenDocument spreadsheet',
    fault: 'open_document',
    make: () =>
      zipFile({
        mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
        'content.xml': '<x/>',
        'META-INF/manifest.xml': '<x/>',
      }),
  },
  {
    what: 'a letter of Word',
    fault: 'not_a_spreadsheet',
    make: () =>
      zipFile({
        '[Content_Types].xml': '<Types/>',
        '_rels/.rels': relationsXml([['officeDocument', 'word/document.xml']]),
        'word/document.xml': '<document/>',
      }),
  },
  {
    what: 'a web page named .xls',
    fault: 'web_page',
    make: () => Buffer.from('\r\n<html><body><table><tr><td>Facture</td></tr></table></body></html>'),
  },
  {
    what: 'XML of Excel 2003',
    fault: 'web_page',
    make: () =>
      Buffer.from('\ufeff<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>'),
  },
  { what: 'a PDF', fault: 'not_a_spreadsheet', make: () => Buffer.from('%PDF-1.7\n') },
  {
    what: 'bytes of no kind',
    fault: 'not_a_spreadsheet',
    make: () => Buffer.from(Array.from({ length: 5000 }, (_, nth) => (nth * 7919) % 256)),
  },
  {
    what: 'zeros in a text',
    fault: 'not_a_spreadsheet',
    make: () => Buffer.from(`${HEAD.join(';')}\r\nF1;R\0if;Thé;1\r\n`),
  },
  {
    what: 'a text of DOS',
    fault: 'bad_encoding',
    make: () => Buffer.from('Facture;Client;Libell\x82;PU HT\r\nF1;Soci\x82t\x82;Caf\x82;1\r\n', 'latin1'),
  },
  {
    what: 'merged cells that overlap',
    fault: 'damaged',
    make: () =>
      withSheet(sheetOf(HEAD_XML, `<mergeCells>${'<mergeCell ref="C2:C99999"/>'.repeat(90_000)}</mergeCells>`)),
  },
  {
    what: 'half characters of UTF-16',
    fault: 'bad_encoding',
    make: () => Buffer.from(`\ufeff${HEAD.join(';')}\r\nF1;\ud800;Thé;1\r\n`, 'utf16le'),
  },
  {
    what: 'a quotation mark that is never closed',
    fault: 'unclosed_quote',
    make: () => csvOf('F1;"Rif;Thé;1', 'F2;Rif;Thé;1'),
  },
  {
    what: '15 MiB after a quotation mark',
    fault: 'unclosed_quote',
    make: () => csvOf(`F1;"${'Rif;Thé;1\r\n'.repeat(1_400_000)}`),
  },
  {
    what: 'a text without columns',
    fault: 'no_header',
    make: () => Buffer.from('Bonjour,\r\nvoici nos factures.\r\n1\r\n'),
  },
  {
    what: 'only hidden sheets',
    fault: 'no_sheet',
    make: () => workbookFile({ sheets: [{ rows: [HEAD], state: 'veryHidden' }] }),
  },
  { what: 'an empty sheet', fault: 'empty', make: () => workbookFile({ sheets: [{ rows: [] }] }) },
];
