import { Decimal128, Double, Int32, Long } from 'bson';
import { typeName } from './types.ts';

/** A decoded decimal128: `coefficient × 10^exponent`, or a special value. */
export interface Decimal {
  coefficient: bigint;
  exponent: number;
  special?: 'NaN' | 'Infinity' | '-Infinity';
}

const MAX_COEFFICIENT = 10n ** 34n - 1n;
const MAX_DIGITS = 34;

/**
 * Decodes the binary integer format of decimal128 (IEEE 754-2008). A coefficient with more than 34 digits counts as
 * zero.
 */
export function decodeDecimal(value: Decimal128): Decimal {
  const view = new DataView(value.bytes.buffer, value.bytes.byteOffset, 16);
  const low = view.getBigUint64(0, true);
  const high = view.getBigUint64(8, true);
  const negative = high >> 63n === 1n;
  const combination = Number((high >> 58n) & 0x1fn);
  if (combination === 31) return { coefficient: 0n, exponent: 0, special: 'NaN' };
  if (combination === 30) return { coefficient: 0n, exponent: 0, special: negative ? '-Infinity' : 'Infinity' };
  if (combination >= 24) return { coefficient: 0n, exponent: Number((high >> 47n) & 0x3fffn) - 6176 };
  const exponent = Number((high >> 49n) & 0x3fffn) - 6176;
  const coefficient = ((high & ((1n << 49n) - 1n)) << 64n) | low;
  if (coefficient > MAX_COEFFICIENT) return { coefficient: 0n, exponent };
  return { coefficient: negative ? -coefficient : coefficient, exponent };
}

/** Encodes a decimal, rounded to 34 digits (half to even). */
export function encodeDecimal(value: Decimal): Decimal128 {
  if (value.special !== undefined) return Decimal128.fromString(value.special);
  const { coefficient, exponent } = roundDigits(value.coefficient, value.exponent);
  return Decimal128.fromStringWithRounding(`${coefficient}E${exponent}`);
}

function roundDigits(coefficient: bigint, exponent: number): Decimal {
  const negative = coefficient < 0n;
  let magnitude = negative ? -coefficient : coefficient;
  const surplus = magnitude.toString().length - MAX_DIGITS;
  if (surplus > 0) {
    const unit = 10n ** BigInt(surplus);
    const rest = magnitude % unit;
    magnitude /= unit;
    if (rest * 2n > unit || (rest * 2n === unit && magnitude % 2n === 1n)) magnitude += 1n;
    exponent += surplus;
    if (magnitude > MAX_COEFFICIENT) return roundDigits(negative ? -magnitude : magnitude, exponent);
  }
  return { coefficient: negative ? -magnitude : magnitude, exponent };
}

/** Whether a value has one of the four number types. */
export function isNumber(value: unknown): boolean {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return true;
    case 'object': {
      if (value === null) return false;
      const name = typeName(value);
      return name === 'int' || name === 'double' || name === 'long' || name === 'decimal';
    }
    default:
      return false;
  }
}

/** The exact value in JS: a number for int and double, a bigint for long, a `Decimal` for decimal128. */
export function exact(value: unknown): number | bigint | Decimal {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Int32 || value instanceof Double) return value.value;
  if (value instanceof Long) return value.toBigInt();
  return decodeDecimal(value as Decimal128);
}

/** The nearest double to a number. */
export function toDouble(value: unknown): number {
  const x = exact(value);
  return typeof x === 'object' ? decimalToDouble(x) : Number(x);
}

/** The nearest double to a decimal. */
export function decimalToDouble(value: Decimal): number {
  return value.special !== undefined ? Number(value.special) : Number(`${value.coefficient}E${value.exponent}`);
}

/** Whether a value is a NaN (double or decimal). */
export function isNaNValue(value: unknown): boolean {
  if (typeof value === 'number') return Number.isNaN(value);
  if (value instanceof Double) return Number.isNaN(value.value);
  return value instanceof Decimal128 && decodeDecimal(value).special === 'NaN';
}

/**
 * Compares numbers of any of the four types by their exact values. NaN equals NaN and is below all other numbers; -0
 * equals 0.
 */
export function compareNumbers(a: unknown, b: unknown): number {
  const x = exact(a);
  const y = exact(b);
  if (typeof x === 'object') return typeof y === 'object' ? compareDecimals(x, y) : compareDecimalTo(x, y);
  if (typeof y === 'object') return 0 - compareDecimalTo(y, x);
  if (x < y) return -1;
  if (x > y) return 1;
  const xNaN = typeof x === 'number' && Number.isNaN(x);
  const yNaN = typeof y === 'number' && Number.isNaN(y);
  return Number(yNaN) - Number(xNaN);
}

function compareDoubles(x: number, y: number): number {
  if (x < y) return -1;
  if (x > y) return 1;
  if (x === y) return 0;
  return Number.isNaN(x) ? (Number.isNaN(y) ? 0 : -1) : 1;
}

/** Compares a decimal with a double or an int64 exactly. */
export function compareDecimalTo(x: Decimal, y: number | bigint): number {
  const near = compareDoubles(decimalToDouble(x), Number(y));
  if (near !== 0 || x.special !== undefined) return near;
  // A finite decimal beyond the range of doubles rounds to infinity, but compares below it.
  if (typeof y === 'number' && !Number.isFinite(y)) return y > 0 ? -1 : 1;
  let left = x.coefficient;
  let { mantissa: right, exponent } = typeof y === 'bigint' ? { mantissa: y, exponent: 0 } : decodeDouble(y);
  if (x.exponent >= 0) left *= 10n ** BigInt(x.exponent);
  else right *= 10n ** BigInt(-x.exponent);
  if (exponent >= 0) right <<= BigInt(exponent);
  else left <<= BigInt(-exponent);
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareDecimals(x: Decimal, y: Decimal): number {
  const near = compareDoubles(decimalToDouble(x), decimalToDouble(y));
  if (near !== 0 || (x.special !== undefined && y.special !== undefined)) return near;
  if (x.special !== undefined) return x.special === 'Infinity' ? 1 : -1;
  if (y.special !== undefined) return y.special === 'Infinity' ? -1 : 1;
  const [left, right] = align(x, y);
  return left < right ? -1 : left > right ? 1 : 0;
}

function align(x: Decimal, y: Decimal): [bigint, bigint, number] {
  const exponent = Math.min(x.exponent, y.exponent);
  return [
    x.coefficient * 10n ** BigInt(x.exponent - exponent),
    y.coefficient * 10n ** BigInt(y.exponent - exponent),
    exponent,
  ];
}

/** Splits a finite double into `mantissa × 2^exponent`. */
function decodeDouble(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & ((1n << 52n) - 1n);
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  return { mantissa: value < 0 ? -mantissa : mantissa, exponent: (biased === 0 ? 1 : biased) - 1075 };
}

/**
 * Converts a double to a decimal as MongoDB does: exactly for a whole number within 2^53, otherwise with 15 significant
 * digits.
 */
export function doubleToDecimal(value: number): Decimal {
  if (!Number.isFinite(value)) {
    return { coefficient: 0n, exponent: 0, special: String(value) as NonNullable<Decimal['special']> };
  }
  if (Number.isSafeInteger(value)) return { coefficient: BigInt(value), exponent: 0 };
  const [digits = '0', exponent = '0'] = value.toExponential(14).split('e');
  const [whole = '0', fraction = ''] = digits.split('.');
  return { coefficient: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Converts a finite double to the decimal with exactly the same value. */
export function exactDecimal(value: number): Decimal {
  const { mantissa, exponent } = decodeDouble(value);
  if (exponent >= 0) return { coefficient: mantissa << BigInt(exponent), exponent: 0 };
  return { coefficient: mantissa * 5n ** BigInt(-exponent), exponent };
}

/** Converts any number to a decimal. */
export function toDecimal(value: unknown): Decimal {
  const x = exact(value);
  if (typeof x === 'object') return x;
  return typeof x === 'bigint' ? { coefficient: x, exponent: 0 } : doubleToDecimal(x);
}

/** Adds two decimals exactly; special values follow IEEE 754. The result is rounded only when it is encoded. */
export function addDecimals(x: Decimal, y: Decimal): Decimal {
  if (x.special !== undefined || y.special !== undefined) return special(decimalToDouble(x) + decimalToDouble(y));
  const [left, right, exponent] = align(x, y);
  return { coefficient: left + right, exponent };
}

/** Multiplies two decimals exactly. */
export function multiplyDecimals(x: Decimal, y: Decimal): Decimal {
  if (x.special !== undefined || y.special !== undefined) {
    return special(Math.sign(decimalToDouble(x)) * Math.sign(decimalToDouble(y)) * Number.POSITIVE_INFINITY);
  }
  return { coefficient: x.coefficient * y.coefficient, exponent: x.exponent + y.exponent };
}

/** Divides two decimals to at least 34 digits. The divisor must not be zero. */
export function divideDecimals(x: Decimal, y: Decimal): Decimal {
  if (x.special !== undefined || y.special !== undefined) {
    return special(
      y.special !== undefined ? (x.special !== undefined ? Number.NaN : 0) : decimalToDouble(x) / decimalToDouble(y),
    );
  }
  const shift = Math.max(0, 2 * MAX_DIGITS + 2 - x.coefficient.toString().length + y.coefficient.toString().length);
  let coefficient = (x.coefficient * 10n ** BigInt(shift)) / y.coefficient;
  let exponent = x.exponent - y.exponent - shift;
  const ideal = x.exponent - y.exponent;
  while (exponent < ideal && coefficient % 10n === 0n && coefficient !== 0n) {
    coefficient /= 10n;
    exponent += 1;
  }
  return { coefficient, exponent: coefficient === 0n ? ideal : exponent };
}

function special(value: number): Decimal {
  if (Number.isFinite(value)) return { coefficient: 0n, exponent: 0 };
  return { coefficient: 0n, exponent: 0, special: String(value) as NonNullable<Decimal['special']> };
}
