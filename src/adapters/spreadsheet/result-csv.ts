import { createReadStream } from 'node:fs';
import type { RowVerdict } from '../../domain/imports/ports.ts';
import type { FileReading } from '../../domain/imports/reading.ts';
import { csvField, isFormula } from '../../text/csv.ts';
import { type CsvForm, type CsvRecord, csvRecords } from './csv-records.ts';
import { encoderOf } from './encode-text.ts';
import { type ResultPlace, resultPlaces, VerdictCursor } from './result-columns.ts';

/**
 * Writes a CSV file again with its verdicts, in its encoding and with its separator. All other fields, and the line
 * ends, stay unchanged, except that a field that a spreadsheet would run as a formula gets an apostrophe
 * (docs/decisions/0096).
 */
export async function* writeCsvResult(
  file: string,
  reading: FileReading,
  verdicts: AsyncIterable<RowVerdict>,
): AsyncGenerator<Uint8Array, void, void> {
  const encoding = reading.encoding ?? 'utf-8';
  const encode = encoderOf(encoding);
  const form = formOf(encoding, reading.separator ?? ';');
  const records = () => csvRecords(createReadStream(file), form);
  const places = resultPlaces(reading, await usedFields(records()));
  const separator = encode(reading.separator ?? ';');
  const cursor = new VerdictCursor(verdicts);
  try {
    for await (const batch of records()) {
      const written: Buffer[] = [];
      for (const record of batch) {
        const own = await ownFields(record.row, { places, headerRow: reading.headerRow, cursor });
        if (record.row > 0) guardFields(record.fields, encoding, encode);
        for (const [index, text] of own) setField(record.fields, index, encode(csvField(text)));
        record.fields.forEach((field, nth) => {
          if (nth > 0) written.push(separator);
          written.push(field);
        });
        written.push(record.end);
      }
      yield Buffer.concat(written);
    }
  } finally {
    await cursor.close();
  }
}

function formOf(encoding: string, separator: string): CsvForm {
  const isWide = encoding.startsWith('utf-16');
  return { unit: isWide ? 2 : 1, isBigEndian: encoding === 'utf-16be', separator: separator.charCodeAt(0) };
}

/** Returns the number of fields up to the last one with content, in all records. */
async function usedFields(records: AsyncIterable<readonly CsvRecord[]>): Promise<number> {
  let used = 0;
  for await (const batch of records)
    for (const { fields } of batch) used = Math.max(used, fields.findLastIndex(({ length }) => length > 0) + 1);
  return used;
}

interface Places {
  readonly places: readonly ResultPlace[];
  readonly headerRow: number;
  readonly cursor: VerdictCursor;
}

/** Returns the texts that the service writes into a row, with the indexes of their fields. */
async function ownFields(row: number, { places, headerRow, cursor }: Places): Promise<[number, string][]> {
  if (row < headerRow) return [];
  if (row === headerRow) return places.filter(({ isThere }) => !isThere).map(({ index, heading }) => [index, heading]);
  let verdict = await cursor.upTo(row);
  // Skips verdicts of rows that the file does not have.
  while (verdict !== null && verdict.row < row) verdict = await cursor.upTo(row);
  if (verdict === null) return places.filter(({ isThere }) => isThere).map(({ index }) => [index, '']);
  return places.map(({ index, name }) => [index, verdict[name] ?? '']);
}

/** Puts an apostrophe in front of fields that a spreadsheet would run as a formula, within their quotes. */
function guardFields(fields: Buffer[], encoding: string, encode: (text: string) => Buffer): void {
  for (const [index, field] of fields.entries()) {
    // Most fields begin with a letter or a digit, and need no check.
    if (field.length === 0 || /^[0-9A-Za-z]/.test(field.toString('latin1', 0, 2).replaceAll('\0', ''))) continue;
    const text = new TextDecoder(encoding).decode(field);
    const quote = text.startsWith('"') ? '"' : '';
    const content = quote === '' ? text : text.slice(1, -1);
    if (isFormula(content)) fields[index] = encode(`${quote}'${text.slice(quote.length)}`);
  }
}

function setField(fields: Buffer[], index: number, field: Buffer): void {
  if (fields.length <= index && field.length === 0) return;
  while (fields.length < index) fields.push(Buffer.alloc(0));
  fields[index] = field;
}
