import { statedSeparator } from './read-separator.ts';

/** The form of the characters in a CSV file. */
export interface CsvForm {
  /** Bytes per character of the syntax. */
  readonly unit: 1 | 2;
  readonly isBigEndian: boolean;
  /** Character code of the separator. */
  readonly separator: number;
}

/** A record of a CSV file. */
export interface CsvRecord {
  /** Number of the row as spreadsheet programs show it, from 1; 0 if the record is no row in them. */
  readonly row: number;
  /** Its fields as written, with their quotes. */
  readonly fields: Buffer[];
  /** The line end after it; empty at the end of the file. */
  readonly end: Buffer;
}

const [LF, CR, QUOTE, BYTE_ORDER_MARK] = [0x0a, 0x0d, 0x22, 0xfeff];
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Splits the bytes of a CSV file into records (RFC 4180), so that unchanged parts can be written again byte for byte. A
 * quote begins a quoted field only at the field's start. The byte order mark, and a first line such as `sep=;`, are
 * yielded as records of row 0.
 */
export async function* csvRecords(bytes: AsyncIterable<Uint8Array>, form: CsvForm): AsyncGenerator<CsvRecord[]> {
  const splitter = new Splitter(form);
  for await (const chunk of bytes) yield splitter.add(chunk);
  yield splitter.finish();
}

/** Decodes the ASCII characters of bytes in any of the encodings. */
function asciiOf(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll('\0', '');
}

class Splitter {
  readonly #form: CsvForm;
  /** The bytes from the start of the incomplete record. */
  #bytes: Buffer = Buffer.alloc(0);
  /** Position of the next character. */
  #at = 0;
  #cuts: number[] = [];
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  #row = 1;
  #isBegun = false;
  #isFirst = true;

  constructor(form: CsvForm) {
    this.#form = form;
  }

  add(chunk: Uint8Array): CsvRecord[] {
    this.#bytes = this.#bytes.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
    return this.#split(false);
  }

  finish(): CsvRecord[] {
    const records = this.#split(true);
    if (this.#bytes.length > 0) records.push(this.#cut(this.#bytes.length, this.#bytes.length));
    return records;
  }

  #split(isLast: boolean): CsvRecord[] {
    const records: CsvRecord[] = [];
    const { unit, separator } = this.#form;
    if (!this.#isBegun) {
      if (this.#bytes.length < UTF8_MARK.length && !isLast) return records;
      this.#isBegun = true;
      const mark = this.#markLength();
      if (mark > 0) records.push({ row: 0, fields: [this.#bytes.subarray(0, mark)], end: Buffer.alloc(0) });
      this.#bytes = this.#bytes.subarray(mark);
    }
    while (this.#at + unit <= this.#bytes.length) {
      const code = this.#codeAt(this.#at);
      const after = this.#at + unit;
      if (this.#state === 'quoted') {
        if (code === QUOTE) this.#state = 'closed';
      } else if (code === CR || code === LF) {
        // Waits for a line feed that may follow.
        if (code === CR && after + unit > this.#bytes.length && !isLast) break;
        const isPair = code === CR && after + unit <= this.#bytes.length && this.#codeAt(after) === LF;
        records.push(this.#cut(this.#at, isPair ? after + unit : after));
        continue;
      } else if (code === separator) {
        this.#cuts.push(this.#at);
        this.#state = 'start';
      } else if (code === QUOTE && this.#state !== 'plain') {
        // The quote is at the start of the field, or doubled in a quoted field.
        this.#state = 'quoted';
      } else this.#state = 'plain';
      this.#at = after;
    }
    return records;
  }

  /** Ends the record. */
  #cut(contentEnd: number, end: number): CsvRecord {
    const { unit } = this.#form;
    const starts = [0, ...this.#cuts.map((cut) => cut + unit)];
    const ends = [...this.#cuts, contentEnd];
    const fields = starts.map((start, i) => this.#bytes.subarray(start, ends[i]));
    if (this.#isFirst && statedSeparator(asciiOf(this.#bytes.subarray(0, Math.min(end, 32)))) !== null) this.#row = 0;
    this.#isFirst = false;
    const record = { row: this.#row++, fields, end: this.#bytes.subarray(contentEnd, end) };
    this.#bytes = this.#bytes.subarray(end);
    this.#at = 0;
    this.#cuts = [];
    this.#state = 'start';
    return record;
  }

  #markLength(): number {
    const { unit } = this.#form;
    if (unit === 2) return this.#bytes.length >= 2 && this.#codeAt(0) === BYTE_ORDER_MARK ? 2 : 0;
    return this.#bytes.subarray(0, UTF8_MARK.length).equals(UTF8_MARK) ? UTF8_MARK.length : 0;
  }

  #codeAt(at: number): number {
    const { unit, isBigEndian } = this.#form;
    const byte = this.#bytes[at] ?? 0;
    if (unit === 1) return byte;
    const other = this.#bytes[at + 1] ?? 0;
    return isBigEndian ? (byte << 8) | other : byte | (other << 8);
  }
}
