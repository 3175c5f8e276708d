import type { Binary, BSONRegExp, BSONSymbol, Code, Decimal128, ObjectId, Timestamp } from 'bson';
import { compareNumbers } from './numbers.ts';
import { asDoc, type Doc, RANK, typeName, typeRank } from './types.ts';

/**
 * Compares any two BSON values in MongoDB's total order: by canonical type, then by value. Missing (undefined) is below
 * null. Documents compare field by field (type, then name, then value), arrays element by element, Binary by length,
 * subtype and bytes.
 */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  const rank = typeRank(a);
  const other = typeRank(b);
  return rank === other ? compareSameRank(rank, a, b) : rank < other ? -1 : 1;
}

/**
 * Whether two values are equal in the order of `compareValues`: 1 equals 1.0, and the field order of documents matters.
 */
export function valuesEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return compareValues(a, b) === 0;
}

function compareSameRank(rank: number, a: unknown, b: unknown): number {
  switch (rank) {
    case RANK.number:
      return compareNumbers(a, b);
    case RANK.string:
      return compareStrings(stringOf(a), stringOf(b));
    case RANK.object:
      return compareDocs(asDoc(a) as Doc, asDoc(b) as Doc);
    case RANK.array:
      return compareArrays(a as unknown[], b as unknown[]);
    case RANK.binary:
      return compareBinary(a, b);
    case RANK.objectId:
      return compareBytes((a as ObjectId).id, (b as ObjectId).id);
    case RANK.boolean:
      return Number(a) - Number(b);
    case RANK.date:
      return Math.sign((a as Date).getTime() - (b as Date).getTime());
    case RANK.timestamp:
      return compareTimestamps(a as Timestamp, b as Timestamp);
    case RANK.regex: {
      const [x, y] = [regexParts(a), regexParts(b)];
      return compareStrings(x.pattern, y.pattern) || compareStrings(x.options, y.options);
    }
    case RANK.code:
      return compareStrings((a as Code).code, (b as Code).code);
    case RANK.codeWithScope:
      return (
        compareStrings((a as Code).code, (b as Code).code) ||
        compareDocs((a as Code).scope as Doc, (b as Code).scope as Doc)
      );
    default:
      return 0;
  }
}

/** The characters of a string or symbol. */
export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : (value as BSONSymbol).value;
}

/** Pattern and options of a BSON or JS regular expression; the options are sorted. */
export function regexParts(value: unknown): { pattern: string; options: string } {
  if (value instanceof RegExp) return { pattern: value.source, options: value.flags.replace(/[^imsu]/g, '') };
  return value as BSONRegExp;
}

/** Bytes and subtype of a Binary; a plain Uint8Array has subtype 0. */
export function binaryParts(value: unknown): { bytes: Uint8Array; subtype: number } {
  if (value instanceof Uint8Array) return { bytes: value, subtype: 0 };
  const binary = value as Binary;
  return { bytes: binary.buffer.subarray(0, binary.position), subtype: binary.sub_type };
}

/**
 * Compares strings by code point, the order of their UTF-8 bytes. JS compares UTF-16 units, which sorts astral
 * characters below U+E000.
 */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) {
      const [xSurrogate, ySurrogate] = [x < 0xe000, y < 0xe000];
      if (xSurrogate !== ySurrogate) return xSurrogate ? 1 : -1;
    }
    return x < y ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

function compareDocs(a: Doc, b: Doc): number {
  const names = Object.keys(a);
  const others = Object.keys(b);
  for (let i = 0; i < names.length; i += 1) {
    const [name, other] = [names[i], others[i]];
    if (name === undefined || other === undefined) break;
    const [x, y] = [a[name], b[other]];
    const rank = typeRank(x);
    const order = rank - typeRank(y) || compareStrings(name, other) || compareSameRank(rank, x, y);
    if (order !== 0) return Math.sign(order);
  }
  return Math.sign(names.length - others.length);
}

function compareArrays(a: unknown[], b: unknown[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const order = compareValues(a[i], b[i]);
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}

function compareBinary(a: unknown, b: unknown): number {
  const [x, y] = [binaryParts(a), binaryParts(b)];
  return Math.sign(x.bytes.length - y.bytes.length || x.subtype - y.subtype || compareBytes(x.bytes, y.bytes));
}

function compareTimestamps(a: Timestamp, b: Timestamp): number {
  return Math.sign(
    a.getHighBitsUnsigned() - b.getHighBitsUnsigned() || a.getLowBitsUnsigned() - b.getLowBitsUnsigned(),
  );
}

/** Compares byte strings like memcmp; a prefix sorts before the longer string. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}

/**
 * Whether two values have the same BSON encoding: the same types (including number types), sign of zero, decimal digits
 * and field order.
 */
export function identical(a: unknown, b: unknown): boolean {
  if (a === b && typeof a !== 'number') return true;
  const type = typeName(a);
  if (type !== typeName(b)) return false;
  switch (type) {
    case 'array': {
      const [x, y] = [a as unknown[], b as unknown[]];
      return x.length === y.length && x.every((value, i) => identical(value, y[i]));
    }
    case 'object': {
      const [x, y] = [asDoc(a) as Doc, asDoc(b) as Doc];
      const [names, others] = [Object.keys(x), Object.keys(y)];
      return (
        names.length === others.length && names.every((name, i) => name === others[i] && identical(x[name], y[name]))
      );
    }
    case 'double':
      return Object.is(Number(a), Number(b));
    case 'decimal':
      return compareBytes((a as Decimal128).bytes, (b as Decimal128).bytes) === 0;
    default:
      return compareValues(a, b) === 0;
  }
}
