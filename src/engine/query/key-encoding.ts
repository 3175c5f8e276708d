import type { Code, ObjectId, Timestamp } from 'bson';
import { binaryParts, regexParts, stringOf } from './compare.ts';
import { compareDecimalTo, type Decimal, decimalToDouble, exact } from './numbers.ts';
import { asDoc, type Doc, RANK, typeRank } from './types.ts';

export type Direction = 1 | -1;

/** Stands for an empty array, whose key is that of BSON's `undefined`, which sorts below null. */
export const EMPTY_ARRAY: unique symbol = Symbol('empty array');

/** Type bytes are the canonical ranks plus this offset, so that 0x00 can terminate documents and arrays. */
const TYPE_OFFSET = 0x10;
const END = 0x00;

/** The lengths, type byte included, of components whose type has a fixed length; by canonical rank. */
const FIXED_LENGTHS: ReadonlyMap<number, number> = new Map([
  [RANK.minKey, 1],
  [RANK.missing, 1],
  [RANK.null, 1],
  [RANK.number, 10],
  [RANK.objectId, 13],
  [RANK.boolean, 2],
  [RANK.date, 9],
  [RANK.timestamp, 9],
  [RANK.maxKey, 1],
]);

/**
 * Encodes values as a memcomparable key: comparing two keys bytewise gives the order of `compareValues` on their values
 * from first to last, inverted for a direction of -1. `undefined` (missing) is encoded as null. Components are
 * self-delimiting: no encoded component is a prefix of another.
 */
export function encodeKey(values: readonly unknown[], directions: readonly Direction[]): Uint8Array {
  writer.length = 0;
  for (let i = 0; i < values.length; i += 1) {
    const start = writer.length;
    const value = values[i];
    if (value === EMPTY_ARRAY) writer.byte(TYPE_OFFSET + RANK.missing);
    else writeValue(value === undefined ? null : value);
    if (directions[i] === -1) writer.invert(start);
  }
  return writer.take();
}

/**
 * Finds the end of the key component that begins at `start`.
 * @returns null for types whose length is not known from a short look: documents, arrays, binary data, regular
 *   expressions, code, and numbers that no double equals
 */
export function componentEnd(key: Uint8Array, start: number, direction: Direction): number | null {
  const mask = direction === -1 ? 0xff : 0;
  const byte = (at: number) => (key[at] ?? mask) ^ mask;
  const rank = byte(start) - TYPE_OFFSET;
  if (rank === RANK.string) {
    for (let at = start + 1; at + 1 < key.length; at++) if (byte(at) === 0x00 && byte(at + 1) === 0x01) return at + 2;
    return null;
  }
  if (rank === RANK.number && byte(start + 9) !== SAME) return null;
  const length = FIXED_LENGTHS.get(rank);
  return length === undefined ? null : start + length;
}

class KeyWriter {
  bytes: Buffer = Buffer.allocUnsafe(4096);
  length = 0;

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(2 * (this.length + count));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length] = value;
    this.length += 1;
  }

  uint32(value: number): void {
    this.reserve(4);
    this.bytes.writeUInt32BE(value >>> 0, this.length);
    this.length += 4;
  }

  raw(value: Uint8Array): void {
    this.reserve(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
  }

  /**
   * Writes a text as UTF-8 with 0x00 escaped as 00 FF and 00 01 at the end, so a prefix sorts first and the end is
   * unambiguous.
   */
  text(value: string): void {
    this.reserve(3 * value.length + 2);
    const start = this.length;
    this.length += this.bytes.write(value, start, 'utf8');
    if (value.includes('\0')) {
      const escaped = Buffer.from(
        this.bytes.toString('latin1', start, this.length).replaceAll('\0', '\0\xff'),
        'latin1',
      );
      this.length = start;
      this.raw(escaped);
    }
    this.byte(0x00);
    this.byte(0x01);
  }

  /** Writes a double so that its bytes sort like its value. -0 is written as 0, and NaN sorts first. */
  double(value: number): void {
    this.reserve(8);
    if (Number.isNaN(value)) {
      this.bytes.fill(0, this.length, this.length + 8);
    } else {
      this.bytes.writeDoubleBE(value === 0 ? 0 : value, this.length);
      if (value < 0) this.invertRange(this.length, this.length + 8);
      else this.bytes[this.length] = (this.bytes[this.length] as number) ^ 0x80;
    }
    this.length += 8;
  }

  invert(start: number): void {
    this.invertRange(start, this.length);
  }

  private invertRange(start: number, end: number): void {
    for (let i = start; i < end; i += 1) this.bytes[i] = (this.bytes[i] as number) ^ 0xff;
  }

  take(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.bytes, 0, this.length);
  }
}

const writer = new KeyWriter();

function writeValue(value: unknown): void {
  const rank = typeRank(value);
  writer.byte(rank + TYPE_OFFSET);
  writeBody(rank, value);
}

function writeBody(rank: number, value: unknown): void {
  switch (rank) {
    case RANK.number:
      writeNumber(value);
      break;
    case RANK.string:
      writer.text(stringOf(value));
      break;
    case RANK.object:
      writeDoc(asDoc(value) as Doc);
      break;
    case RANK.array:
      for (const element of value as unknown[]) writeValue(element);
      writer.byte(END);
      break;
    case RANK.binary: {
      const { bytes, subtype } = binaryParts(value);
      writer.uint32(bytes.length);
      writer.byte(subtype);
      writer.raw(bytes);
      break;
    }
    case RANK.objectId:
      writer.raw((value as ObjectId).id);
      break;
    case RANK.boolean:
      writer.byte(value ? 1 : 0);
      break;
    case RANK.date:
      writer.double((value as Date).getTime());
      break;
    case RANK.timestamp:
      writer.uint32((value as Timestamp).getHighBitsUnsigned());
      writer.uint32((value as Timestamp).getLowBitsUnsigned());
      break;
    case RANK.regex: {
      const { pattern, options } = regexParts(value);
      writer.text(pattern);
      writer.text(options);
      break;
    }
    case RANK.code:
      writer.text((value as Code).code);
      break;
    case RANK.codeWithScope:
      writer.text((value as Code).code);
      writeDoc((value as Code).scope as Doc);
      break;
    default:
  }
}

function writeDoc(doc: Doc): void {
  for (const name of Object.keys(doc)) {
    const value = doc[name];
    const rank = typeRank(value);
    writer.byte(rank + TYPE_OFFSET);
    writer.text(name);
    writeBody(rank, value);
  }
  writer.byte(END);
}

const BELOW = 0x40;
const SAME = 0x80;
const ABOVE = 0xc0;

/**
 * Writes the nearest double and whether the number is below, equal to or above it. A number that is not equal to that
 * double (an int64 beyond 2^53, most decimals) is followed by its decimal digits.
 */
function writeNumber(value: unknown): void {
  const number = exact(value);
  if (typeof number === 'number') {
    writer.double(number);
    writer.byte(SAME);
    return;
  }
  if (typeof number === 'bigint') {
    const near = Number(number);
    writer.double(near);
    const rounded = BigInt(near);
    writer.byte(number === rounded ? SAME : number < rounded ? BELOW : ABOVE);
    if (number !== rounded) writeDigits({ coefficient: number, exponent: 0 });
    return;
  }
  let near = decimalToDouble(number);
  if (number.special === undefined && !Number.isFinite(near)) near = Math.sign(near) * Number.MAX_VALUE;
  writer.double(near);
  const side = number.special === undefined ? compareDecimalTo(number, near) : 0;
  writer.byte(side < 0 ? BELOW : side > 0 ? ABOVE : SAME);
  if (side !== 0) writeDigits(number);
}

function writeDigits({ coefficient, exponent }: Decimal): void {
  const start = writer.length;
  const digits = (coefficient < 0n ? -coefficient : coefficient).toString();
  writer.uint32(digits.length - 1 + exponent + 0x8000);
  writer.text(digits.replace(/0+$/, ''));
  if (coefficient < 0n) writer.invert(start);
}
