import type { Binary, BSONRegExp, Code, Document, Long, ObjectId, Timestamp } from 'bson';

/**
 * MongoDB's order of values as its manual describes it, written for clarity instead of speed. The engine's order is
 * compared with it.
 */

/** Returns the position of a value's type in the order. Types with the same position compare with one another. */
export function rank(value: unknown): number {
  if (value === undefined) return 1;
  if (value === null) return 2;
  if (typeof value === 'number') return 3;
  if (typeof value === 'string') return 4;
  if (Array.isArray(value)) return 6;
  if (typeof value === 'boolean') return 9;
  if (value instanceof Date) return 10;
  // Compared by name, because the driver has its own copies of the classes.
  const type = (value as { _bsontype?: string })._bsontype ?? 'document';
  return type === 'Code' && (value as Code).scope ? 14 : (RANKS[type] as number);
}

const RANKS: Readonly<Record<string, number>> = {
  MinKey: 0,
  Int32: 3,
  Double: 3,
  Long: 3,
  Decimal128: 3,
  BSONSymbol: 4,
  document: 5,
  Binary: 7,
  ObjectId: 8,
  Timestamp: 11,
  BSONRegExp: 12,
  Code: 13,
  MaxKey: 15,
};

/** Whether the value is an embedded document. */
export function isDocument(value: unknown): value is Document {
  return rank(value) === 5;
}

export function compareValues(a: unknown, b: unknown): number {
  const place = rank(a);
  if (place !== rank(b)) return place - rank(b);
  switch (place) {
    case 3:
      return compareNumbers(exact(a), exact(b));
    case 4:
      return bytesOf(String(a)).compare(bytesOf(String(b)));
    case 5:
      return compareDocuments(a as Document, b as Document);
    case 6:
      return compareLists(a as unknown[], b as unknown[]);
    case 7: {
      const [left, right] = [a as Binary, b as Binary];
      return (
        left.length() - right.length() ||
        left.sub_type - right.sub_type ||
        Buffer.compare(left.buffer.subarray(0, left.length()), right.buffer.subarray(0, right.length()))
      );
    }
    case 8:
      return (a as ObjectId).toHexString() < (b as ObjectId).toHexString()
        ? -1
        : Number(!(a as ObjectId).equals(b as ObjectId));
    case 9:
      return Number(a) - Number(b);
    case 10:
      return (a as Date).getTime() - (b as Date).getTime();
    case 11:
      return (a as Timestamp).t - (b as Timestamp).t || (a as Timestamp).i - (b as Timestamp).i;
    case 12: {
      const [left, right] = [a as BSONRegExp, b as BSONRegExp];
      return (
        bytesOf(left.pattern).compare(bytesOf(right.pattern)) || bytesOf(left.options).compare(bytesOf(right.options))
      );
    }
    case 13:
      return bytesOf((a as Code).code).compare(bytesOf((b as Code).code));
    case 14:
      return (
        bytesOf((a as Code).code).compare(bytesOf((b as Code).code)) ||
        compareDocuments((a as Code).scope as Document, (b as Code).scope as Document)
      );
    default:
      return 0;
  }
}

export const equal = (a: unknown, b: unknown): boolean => compareValues(a, b) === 0;

/** Field by field: type, then name, then value. */
function compareDocuments(a: Document, b: Document): number {
  const [left, right] = [Object.entries(a), Object.entries(b)];
  for (const [n, [name, value]] of left.entries()) {
    const other = right[n];
    if (!other) return 1;
    const order =
      rank(value) - rank(other[1]) || bytesOf(name).compare(bytesOf(other[0])) || compareValues(value, other[1]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareLists(a: unknown[], b: unknown[]): number {
  for (const [n, value] of a.entries()) {
    if (n >= b.length) return 1;
    const order = compareValues(value, b[n]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');

/** The exact value of a number: coefficient × 10^exponent, or one of three special values. */
type Exact = 'NaN' | '-Infinity' | 'Infinity' | { coefficient: bigint; exponent: number };

export const isNaNumber = (value: unknown): boolean => rank(value) === 3 && exact(value) === 'NaN';

function compareNumbers(a: Exact, b: Exact): number {
  const place = (n: Exact): number => (typeof n === 'object' ? 2 : ['NaN', '-Infinity', '', 'Infinity'].indexOf(n));
  if (typeof a !== 'object' || typeof b !== 'object') return place(a) - place(b);
  const least = Math.min(a.exponent, b.exponent);
  const left = a.coefficient * 10n ** BigInt(a.exponent - least);
  const right = b.coefficient * 10n ** BigInt(b.exponent - least);
  return left < right ? -1 : Number(left > right);
}

function exact(value: unknown): Exact {
  const type = (value as { _bsontype?: string })._bsontype;
  if (type === 'Long') return { coefficient: (value as Long).toBigInt(), exponent: 0 };
  if (type === 'Decimal128') return ofDecimal(String(value));
  const n = Number(value);
  if (Number.isNaN(n)) return 'NaN';
  if (!Number.isFinite(n)) return n > 0 ? 'Infinity' : '-Infinity';
  let [whole, exponent] = [n, 0];
  // Doubling is exact, and whole / 2^n equals whole × 5^n / 10^n.
  while (!Number.isInteger(whole)) [whole, exponent] = [whole * 2, exponent + 1];
  return { coefficient: BigInt(whole) * 5n ** BigInt(exponent), exponent: -exponent };
}

function ofDecimal(text: string): Exact {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return text as Exact;
  const coefficient = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  return { coefficient, exponent: Number(exponent) - fraction.length };
}
