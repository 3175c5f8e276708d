import { type Decimal128, Double, Int32, Long } from 'bson';
import { addDecimals, encodeDecimal, exact, isNumber, multiplyDecimals, toDecimal, toDouble } from './numbers.ts';
import { typeName } from './types.ts';

export type NumberKind = 'int' | 'long' | 'double' | 'decimal';
export type BsonNumber = Int32 | Long | Double | Decimal128;

const ORDER: readonly NumberKind[] = ['int', 'long', 'double', 'decimal'];

/** The result type of an operation on two numbers: the wider type in the order int, long, double, decimal. */
export function widerKind(a: unknown, b: unknown): NumberKind {
  const [x, y] = [typeName(a) as NumberKind, typeName(b) as NumberKind];
  return ORDER.indexOf(x) > ORDER.indexOf(y) ? x : y;
}

/** Wraps a number from a document or from our own code in its BSON type. */
export function asBsonNumber(value: unknown): BsonNumber {
  if (typeof value === 'bigint') return Long.fromBigInt(value);
  if (typeof value === 'number') return typeName(value) === 'int' ? new Int32(value) : new Double(value);
  return value as BsonNumber;
}

/** Adds two numbers with MongoDB's types: int + int is an int, or a long beyond int32. Undefined on int64 overflow. */
export function addNumbers(a: unknown, b: unknown): BsonNumber | undefined {
  switch (widerKind(a, b)) {
    case 'decimal':
      return encodeDecimal(addDecimals(toDecimal(a), toDecimal(b)));
    case 'double':
      return new Double(toDouble(a) + toDouble(b));
    default:
      return integral(widerKind(a, b), toBigInt(a) + toBigInt(b));
  }
}

/** Multiplies two numbers with the types of `addNumbers`. Undefined on int64 overflow. */
export function multiplyNumbers(a: unknown, b: unknown): BsonNumber | undefined {
  switch (widerKind(a, b)) {
    case 'decimal':
      return encodeDecimal(multiplyDecimals(toDecimal(a), toDecimal(b)));
    case 'double':
      return new Double(toDouble(a) * toDouble(b));
    default:
      return integral(widerKind(a, b), toBigInt(a) * toBigInt(b));
  }
}

/**
 * Wraps an integer as an int or a long. `kind` is the wider type of the operands that it was computed from. Undefined
 * on int64 overflow.
 */
export function integral(kind: NumberKind, value: bigint): Int32 | Long | undefined {
  return kind === 'int' ? intOrLong(value) : longOrNothing(value);
}

/** Converts an int or long to a bigint. */
export function toBigInt(value: unknown): bigint {
  return BigInt(exact(value) as number | bigint);
}

/** Wraps a whole number as an int if it fits, otherwise as a long. */
export function intOrLong(value: bigint): Int32 | Long | undefined {
  return BigInt.asIntN(32, value) === value ? new Int32(Number(value)) : longOrNothing(value);
}

function longOrNothing(value: bigint): Long | undefined {
  return BigInt.asIntN(64, value) === value ? Long.fromBigInt(value) : undefined;
}

/** Whether a value is an int or a long. */
export function isIntegral(value: unknown): boolean {
  if (!isNumber(value)) return false;
  const kind = typeName(value);
  return kind === 'int' || kind === 'long';
}
