/** A Huffman table as its segment defines it: the number of codes of each length, and their values. */
export interface HuffmanTable {
  /** The largest code of each length, 1 to 16 bits; -1 if there is none. */
  readonly lastCodes: Int32Array;
  /** Added to a code to get the index of its value, by the code's length. */
  readonly offsets: Int32Array;
  readonly values: Buffer;
}

/** The data differs from what an encoder would write, so the image would look broken. */
export class CorruptScan extends Error {}

/** The highest value of a DC coefficient's code. More bits would exceed any difference (ITU-T T.81, table F.1). */
const MAX_DC_VALUE = 15;

/**
 * Reads the tables of a DHT segment (ITU-T T.81, B.2.4.2 and annex C). Their keys are class (0: DC, 1: AC) and number.
 * @returns null when the segment is truncated or its codes are no prefix codes
 */
export function huffmanTables(segment: Buffer): ReadonlyMap<string, HuffmanTable> | null {
  const tables = new Map<string, HuffmanTable>();
  for (let at = 0; at < segment.length; ) {
    const [kind, number] = [segment[at]! >> 4, segment[at]! & 15];
    const counts = segment.subarray(at + 1, at + 17);
    const total = counts.reduce((sum, count) => sum + count, 0);
    const values = segment.subarray(at + 17, at + 17 + total);
    const codes = codesOf(counts);
    if (counts.length < 16 || values.length < total || kind > 1 || number > 3 || codes === null) return null;
    if (kind === 0 && values.some((value) => value > MAX_DC_VALUE)) return null;
    tables.set(`h${kind}${number}`, { ...codes, values });
    at += 17 + total;
  }
  return tables;
}

function codesOf(counts: Buffer): Pick<HuffmanTable, 'lastCodes' | 'offsets'> | null {
  const [lastCodes, offsets] = [new Int32Array(17).fill(-1), new Int32Array(17)];
  let [code, index] = [0, 0];
  for (const [at, count] of counts.entries()) {
    offsets[at + 1] = index - code;
    code += count;
    index += count;
    if (count > 0) lastCodes[at + 1] = code - 1;
    // No code may consist of ones only.
    if (count > 0 && code >= 2 ** (at + 1)) return null;
    code *= 2;
  }
  return index > 256 ? null : { lastCodes, offsets };
}

/**
 * Reads bits of coded data without stuffed octets, one part after the other. Each reading method throws {CorruptScan}
 * after the end of the part.
 */
export class BitReader {
  readonly #octets: Buffer;
  /** The end of the part, and the position of the next bit. */
  #end = 0;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  /** Starts the next part, at the end of the last one. @param end octets from the beginning of all data */
  readTo(end: number): void {
    this.#at = this.#end;
    this.#end = end * 8;
  }

  bit(): number {
    const at = this.#at++;
    if (at >= this.#end) throw new CorruptScan();
    return (this.#octets[at >> 3]! >> (7 - (at & 7))) & 1;
  }

  /** Reads bits. @param count at most 16 */
  bits(count: number): number {
    let value = 0;
    for (let each = 0; each < count; each++) value = value * 2 + this.bit();
    return value;
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#end) throw new CorruptScan();
  }

  /** Reads a code and returns its value. */
  decode({ lastCodes, offsets, values }: HuffmanTable): number {
    let code = 0;
    for (let length = 1; length <= 16; length++) {
      code = code * 2 + this.bit();
      if (code <= lastCodes[length]!) return values[code + offsets[length]!]!;
    }
    throw new CorruptScan();
  }

  /** Whether only the rest of an octet and padding are left in the part: octets of zeros or of ones. */
  isAtEnd(): boolean {
    for (let at = Math.ceil(this.#at / 8); at < this.#end / 8; at++) {
      const octet = this.#octets[at];
      if (octet !== 0 && octet !== 0xff) return false;
    }
    return true;
  }
}
