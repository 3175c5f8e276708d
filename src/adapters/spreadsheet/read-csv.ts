import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type Cell, type SheetRow, textCell } from '../../domain/imports/cell.ts';
import { IMPORT_LIMITS } from '../../domain/imports/limits.ts';
import { type ColumnMapping, UnreadableFile } from '../../domain/imports/reading.ts';
import type { OpenFile } from '../../domain/imports/table.ts';
import { decideEncoding, decodeFile, type Encoding } from './read-encoding.ts';
import { decideSeparator, type Separation } from './read-separator.ts';

/** Number of bytes at the beginning from which the separator is decided. */
const BEGINNING = 64 * 1024;
/** Maximum length of a row, characters. An unclosed quotation mark turns the rest of the file into one row. */
const LONGEST_ROW = 1024 * 1024;
const BATCH = 500;

/**
 * Opens a CSV file (RFC 4180). Rows are counted as in spreadsheet programs: a line end in quotes does not begin a row,
 * and an empty line is a row.
 * @throws {UnreadableFile}
 */
export async function openCsv(file: string, mapping: ColumnMapping | null): Promise<OpenFile> {
  const encoding = await decideEncoding(file);
  let beginning = '';
  for await (const text of decodeFile(file, encoding, BEGINNING - 1)) beginning += text;
  const separation = decideSeparator(beginning, mapping);
  return {
    form: { format: 'csv', encoding, separator: separation.separator, dateSystem: null },
    tables: [{ sheet: null, rows: () => readRows(file, encoding, separation) }],
    close: async () => undefined,
  };
}

async function* readRows(
  file: string,
  encoding: Encoding,
  { separator, isStated }: Separation,
): AsyncGenerator<readonly SheetRow[], void, void> {
  const parser = parse({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: LONGEST_ROW,
    from: isStated ? 2 : 1,
  });
  const text = Readable.from(decodeFile(file, encoding));
  text.on('error', (error) => parser.destroy(error));
  text.pipe(parser);
  let rows: SheetRow[] = [];
  let [row, emptyRows, count] = [0, 0, 0];
  try {
    for await (const record of parser as AsyncIterable<readonly string[]>) {
      row++;
      const cells = cellsOf(record);
      // Empty cells count, too, because the returned file contains them again.
      count += record.length;
      if (count > IMPORT_LIMITS.cells) throw new UnreadableFile('too_many_cells', { most: IMPORT_LIMITS.cells });
      emptyRows = cells.length === 0 ? emptyRows + 1 : 0;
      if (emptyRows > IMPORT_LIMITS.emptyRows)
        throw new UnreadableFile('too_many_empty_rows', { most: IMPORT_LIMITS.emptyRows });
      if (cells.length > 0) rows.push({ row, isHidden: false, cells });
      if (rows.length < BATCH) continue;
      yield rows;
      rows = [];
    }
  } catch (error) {
    if (error instanceof CsvError)
      throw new UnreadableFile(/QUOTE|MAX_RECORD/.test(error.code) ? 'unclosed_quote' : 'damaged', { row: row + 1 });
    throw error;
  } finally {
    text.destroy();
    parser.destroy();
  }
  if (rows.length > 0) yield rows;
}

function cellsOf(record: readonly string[]): readonly (Cell | null)[] {
  const cells: (Cell | null)[] = [];
  for (const [column, text] of record.entries()) {
    const cell = textCell(withoutMark(text));
    if (cell === null) continue;
    if (column >= IMPORT_LIMITS.columns) throw new UnreadableFile('too_many_columns', { most: IMPORT_LIMITS.columns });
    while (cells.length < column) cells.push(null);
    cells.push(cell);
  }
  return cells;
}

/**
 * Removes the apostrophe by which this service's files (`csvLine`) and spreadsheets mark a text, so that it is not read
 * as a formula, a date or a number. Also removes the quotation marks of a cell with spaces after them.
 */
function withoutMark(text: string): string {
  if (/^'(?=["\s]*[=+\-@＝＋－＠]|[\d'\t])/.test(text)) return text.slice(1);
  return /^"[^"]*"\s+$/.test(text) ? text.trimEnd().slice(1, -1) : text;
}
