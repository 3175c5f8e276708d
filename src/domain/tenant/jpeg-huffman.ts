/** A Huffman table as its segment defines it: how many codes there are of each length, and their values. */
export interface HuffmanTable {
  /** The largest code by its length in bits, 1 to 16; -1 where there is none. */
  readonly lastCodes: Int32Array;
  /** What is added to a code for the index of its value, by the code's length. */
  readonly offsets: Int32Array;
  readonly values: Buffer;
}

/** The data says something else than an encoder would write: a picture of it is broken. */
export class CorruptScan extends Error {}

/** The highest value of a code of a DC coefficient: more bits than any difference has (ITU-T T.81, table F.1). */
const MAX_DC_VALUE = 15;

/**
 * Reads the tables of a DHT segment (ITU-T T.81, B.2.4.2 and annex C), named by class (0: DC, 1: AC) and number.
 * @returns null when the segment is cut off or its codes are no prefix codes
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
    // No code consists of ones alone.
    if (count > 0 && code >= 2 ** (at + 1)) return null;
    code *= 2;
  }
  return index > 256 ? null : { lastCodes, offsets };
}

/**
 * Reads bits of coded data whose stuffed octets are removed, in one part after the other. Each method that reads throws
 * {CorruptScan} behind the end of the part.
 */
export class BitReader {
  readonly #octets: Buffer;
  /** Where the part ends, and the next bit. */
  #end = 0;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  /** Begins the next part, from the end of the last one. @param end octets from the beginning of all */
  readTo(end: number): void {
    this.#at = this.#end;
    this.#end = end * 8;
  }

  bit(): number {
    const at = this.#at++;
    if (at >= this.#end) throw new CorruptScan();
    return (this.#octets[at >> 3]! >> (7 - (at & 7))) & 1;
  }

  /** @param count at most 16 */
  bits(count: number): number {
    let value = 0;
    for (let each = 0; each < count; each++) value = value * 2 + this.bit();
    return value;
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#end) throw new CorruptScan();
  }

  /** The value of the next code. */
  decode({ lastCodes, offsets, values }: HuffmanTable): number {
    let code = 0;
    for (let length = 1; length <= 16; length++) {
      code = code * 2 + this.bit();
      if (code <= lastCodes[length]!) return values[code + offsets[length]!]!;
    }
    throw new CorruptScan();
  }

  /** Whether nothing is left of the part but the rest of an octet and padding: octets of zeros or of ones. */
  isAtEnd(): boolean {
    for (let at = Math.ceil(this.#at / 8); at < this.#end / 8; at++) {
      const octet = this.#octets[at];
      if (octet !== 0 && octet !== 0xff) return false;
    }
    return true;
  }
}
