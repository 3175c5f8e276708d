import { type DBRef, Long } from 'bson';

/**
 * A decoded BSON document. Values are bson wrappers (Int32, Double, Long, Decimal128, Binary, ObjectId, BSONRegExp,
 * Timestamp…) or JS values (string, boolean, null, Date, arrays, plain objects, and numbers and bigints created by our
 * own code). `undefined` means missing.
 */
export type Doc = Record<string, unknown>;

/** MongoDB's canonical type order (`canonicalizeBSONType`), which every comparison applies first. */
export const RANK = {
  minKey: -1,
  missing: 0,
  null: 5,
  number: 10,
  string: 15,
  object: 20,
  array: 25,
  binary: 30,
  objectId: 35,
  boolean: 40,
  date: 45,
  timestamp: 47,
  regex: 50,
  code: 60,
  codeWithScope: 65,
  maxKey: 127,
} as const;

/** BSON type names as in `$type`. */
export type TypeName =
  | 'missing'
  | 'minKey'
  | 'double'
  | 'string'
  | 'object'
  | 'array'
  | 'binData'
  | 'objectId'
  | 'bool'
  | 'date'
  | 'null'
  | 'regex'
  | 'dbPointer'
  | 'javascript'
  | 'symbol'
  | 'javascriptWithScope'
  | 'int'
  | 'timestamp'
  | 'long'
  | 'decimal'
  | 'maxKey';

/** BSON type numbers by name. */
export const TYPE_NUMBERS: Readonly<Record<string, number>> = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binData: 5,
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  regex: 11,
  dbPointer: 12,
  javascript: 13,
  symbol: 14,
  javascriptWithScope: 15,
  int: 16,
  timestamp: 17,
  long: 18,
  decimal: 19,
  minKey: -1,
  maxKey: 127,
};

const RANK_BY_NAME: Readonly<Record<TypeName, number>> = {
  missing: RANK.missing,
  minKey: RANK.minKey,
  double: RANK.number,
  string: RANK.string,
  object: RANK.object,
  array: RANK.array,
  binData: RANK.binary,
  objectId: RANK.objectId,
  bool: RANK.boolean,
  date: RANK.date,
  null: RANK.null,
  regex: RANK.regex,
  dbPointer: RANK.object,
  javascript: RANK.code,
  symbol: RANK.string,
  javascriptWithScope: RANK.codeWithScope,
  int: RANK.number,
  timestamp: RANK.timestamp,
  long: RANK.number,
  decimal: RANK.number,
  maxKey: RANK.maxKey,
};

const NAME_BY_BSONTYPE: Readonly<Record<string, TypeName>> = {
  Int32: 'int',
  Double: 'double',
  Long: 'long',
  Decimal128: 'decimal',
  ObjectId: 'objectId',
  Binary: 'binData',
  UUID: 'binData',
  Timestamp: 'timestamp',
  BSONRegExp: 'regex',
  BSONSymbol: 'symbol',
  MinKey: 'minKey',
  MaxKey: 'maxKey',
  DBRef: 'object',
};

function isPlain(value: object): boolean {
  const proto = Object.getPrototypeOf(value);
  return proto === Object.prototype || proto === null;
}

/** The BSON type of a decoded value. */
export function typeName(value: unknown): TypeName {
  switch (typeof value) {
    case 'undefined':
      return 'missing';
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) && value === (value | 0) && !Object.is(value, -0) ? 'int' : 'double';
    case 'bigint':
      return 'long';
    case 'object':
      break;
    default:
      throw new TypeError(`no BSON type: ${typeof value}`);
  }
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isPlain(value)) return 'object';
  const bsontype = (value as { _bsontype?: string })._bsontype;
  if (bsontype === 'Code') return (value as { scope?: unknown }).scope ? 'javascriptWithScope' : 'javascript';
  if (bsontype !== undefined) {
    const name = NAME_BY_BSONTYPE[bsontype];
    if (name !== undefined) return name;
  }
  if (value instanceof Date) return 'date';
  if (value instanceof RegExp) return 'regex';
  if (value instanceof Uint8Array) return 'binData';
  throw new TypeError(`no BSON type: ${String(value)}`);
}

/** The canonical rank of a value's type; missing is below null. */
export function typeRank(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return RANK.string;
    case 'undefined':
      return RANK.missing;
    case 'number':
      return RANK.number;
    case 'boolean':
      return RANK.boolean;
    default:
      return RANK_BY_NAME[typeName(value)];
  }
}

/**
 * Whether a value is an embedded document. Use `asDoc` to include a DBRef, which the bson package decodes from `{$ref,
 * $id}`.
 */
export function isDoc(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value);
}

/** The value as an embedded document, or undefined if it is not one. */
export function asDoc(value: unknown): Doc | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (isPlain(value)) return value as Doc;
  return (value as { _bsontype?: string })._bsontype === 'DBRef' ? dbRefDoc(value as DBRef) : undefined;
}

function dbRefDoc(ref: DBRef): Doc {
  const doc: Doc = { $ref: ref.collection, $id: ref.oid };
  if (ref.db) doc.$db = ref.db;
  return Object.assign(doc, ref.fields);
}

/** Reads an own field. Inherited names such as `constructor` are missing. */
export function getField(doc: Doc, name: string): unknown {
  return Object.hasOwn(doc, name) ? doc[name] : undefined;
}

/** Sets an own field, even one named `__proto__`. */
export function setField(doc: Doc, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(doc, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    doc[name] = value;
  }
}

/** MongoDB's truth value: false for false, null, missing and zeros of any type; NaN is true. */
export function isTruthy(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  switch (typeName(value)) {
    case 'int':
    case 'double':
      return Number(value) !== 0;
    case 'long':
      return typeof value === 'bigint' ? value !== 0n : !(value as Long).isZero();
    case 'decimal':
      return !/^-?0(\.0*)?(E.*)?$/.test(String(value));
    default:
      return true;
  }
}

/** Converts a whole number that fits in an int64 to a bigint; undefined for anything else (fractions, other types). */
export function wholeNumber(value: unknown): bigint | undefined {
  switch (typeof value === 'object' || typeof value === 'number' || typeof value === 'bigint' ? typeName(value) : '') {
    case 'int':
      return BigInt(Number(value));
    case 'long':
      return typeof value === 'bigint' ? value : (value as Long).toBigInt();
    case 'double': {
      const n = Number(value);
      return Number.isInteger(n) && n >= -(2 ** 63) && n < 2 ** 63 ? BigInt(n) : undefined;
    }
    case 'decimal': {
      const n = Number(String(value));
      if (!Number.isInteger(n) || Math.abs(n) >= 2 ** 63) return undefined;
      return Number.isSafeInteger(n) ? BigInt(n) : Long.fromString(String(value)).toBigInt();
    }
    default:
      return undefined;
  }
}
