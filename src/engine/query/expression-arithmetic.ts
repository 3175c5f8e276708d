import { Decimal128, Double, Int32, Long } from 'bson';
import { CommandError } from '../errors.ts';
import { addNumbers, asBsonNumber, integral, multiplyNumbers, toBigInt, widerKind } from './arithmetic.ts';
import { compareValues } from './compare.ts';
import { dateAt, folding, isNullish, type Operator, operator } from './expression-types.ts';
import {
  type Decimal,
  decodeDecimal,
  divideDecimals,
  encodeDecimal,
  exactDecimal,
  isNumber,
  multiplyDecimals,
  toDecimal,
  toDouble,
} from './numbers.ts';
import { isDoc, typeName, wholeNumber } from './types.ts';

const mismatch = (message: string): never => {
  throw new CommandError('TypeMismatch', message);
};
const bad = (message: string): never => {
  throw new CommandError('BadValue', message);
};

/**
 * Arithmetic with MongoDB's number types: a long beyond int32, a double beyond int64, a decimal if any operand is one.
 */
export const ARITHMETIC: Readonly<Record<string, Operator>> = {
  $add: folding(
    () => ({ sum: new Int32(0) as unknown, dated: false }),
    add,
    ({ sum, dated }) => (dated ? dateAt(Math.round(toDouble(sum))) : sum),
  ),
  $subtract: operator(2, 2, subtract),
  $multiply: folding(
    () => new Int32(1) as unknown,
    (product, value, name) => {
      if (!isNumber(value)) return mismatch(`${name} only supports numeric types, not ${typeName(value)}`);
      return multiplyNumbers(product, value) ?? new Double(toDouble(product) * toDouble(value));
    },
    (product) => product,
  ),
  $divide: operator(2, 2, ([a, b], name) => {
    if (isNullish(a) || isNullish(b)) return null;
    requireNumbers(a, b, name);
    if (toDouble(b) === 0) return bad("can't $divide by zero");
    return divide(a, b);
  }),
  $mod: operator(2, 2, ([a, b], name) => {
    if (isNullish(a) || isNullish(b)) return null;
    requireNumbers(a, b, name);
    if (toDouble(b) === 0) return bad("can't $mod by zero");
    return modulo(a, b);
  }),
  $rand: (operand, _compile, name) => {
    if (!isDoc(operand) || Object.keys(operand).length > 0)
      throw new CommandError(3040501, `${name} does not currently accept arguments`);
    return () => new Double(Math.random());
  },
  $abs: unary((value) => (compareValues(value, new Int32(0)) < 0 ? negate(value) : asBsonNumber(value))),
  $ceil: unary((value) => roundTo(value, 0, 'ceil')),
  $floor: unary((value) => roundTo(value, 0, 'floor')),
  $round: rounding('half'),
  $trunc: rounding('trunc'),
  $sqrt: unary((value, name) => {
    if (toDouble(value) < 0) throw new CommandError(28714, `${name}'s argument must be greater than or equal to 0`);
    return viaDouble(value, Math.sqrt);
  }),
  $exp: unary((value) => viaDouble(value, Math.exp)),
  $ln: unary((value, name) => viaDouble(positive(value, name, 28766), Math.log)),
  $log10: unary((value, name) => viaDouble(positive(value, name, 28761), Math.log10)),
};

function unary(evaluate: (value: unknown, name: string) => unknown): Operator {
  return operator(1, 1, ([value], name) => {
    if (isNullish(value)) return null;
    if (!isNumber(value)) throw new CommandError(28765, `${name} only supports numeric types, not ${typeName(value)}`);
    return evaluate(value, name);
  });
}

function requireNumbers(a: unknown, b: unknown, name: string): void {
  if (!isNumber(a) || !isNumber(b)) {
    mismatch(`${name} only supports numeric types, not ${typeName(a)} and ${typeName(b)}`);
  }
}

/** Adds with MongoDB's types. An integer sum beyond int64 becomes a double. */
function sumOf(a: unknown, b: unknown): unknown {
  return addNumbers(a, b) ?? new Double(toDouble(a) + toDouble(b));
}

/** Divides. The result is a decimal if either operand is one, otherwise a double. The divisor must not be zero. */
export function divide(a: unknown, b: unknown): unknown {
  return widerKind(a, b) === 'decimal'
    ? encodeDecimal(divideDecimals(toDecimal(a), toDecimal(b)))
    : new Double(toDouble(a) / toDouble(b));
}

function add({ sum, dated }: { sum: unknown; dated: boolean }, value: unknown, name: string) {
  if (value instanceof Date) {
    if (dated) throw new CommandError(16612, `only one date allowed in an ${name} expression`);
    return { sum: sumOf(sum, Long.fromNumber(value.getTime())), dated: true };
  }
  if (!isNumber(value)) return mismatch(`${name} only supports numeric or date types, not ${typeName(value)}`);
  return { sum: sumOf(sum, value), dated };
}

function subtract([a, b]: readonly unknown[], name: string): unknown {
  if (isNullish(a) || isNullish(b)) return null;
  if (a instanceof Date && b instanceof Date) return Long.fromNumber(a.getTime() - b.getTime());
  if (a instanceof Date && isNumber(b)) return dateAt(Math.round(a.getTime() - toDouble(b)));
  if (!isNumber(a) || !isNumber(b)) return mismatch(`can't ${name} ${typeName(b)} from ${typeName(a)}`);
  const kind = widerKind(a, b);
  if (kind === 'decimal' || kind === 'double') return addNumbers(a, negate(b));
  // `negate` cannot be used for integers: the smallest int or long has no negative of its type.
  return integral(kind, toBigInt(a) - toBigInt(b)) ?? new Double(toDouble(a) - toDouble(b));
}

function negate(value: unknown): unknown {
  switch (typeName(value)) {
    case 'decimal':
      return encodeDecimal(multiplyDecimals(decodeDecimal(value as Decimal128), { coefficient: -1n, exponent: 0 }));
    case 'double':
      return new Double(-toDouble(value));
    default:
      return multiplyNumbers(value, new Int32(-1)) ?? new Double(-toDouble(value));
  }
}

function modulo(a: unknown, b: unknown): unknown {
  switch (widerKind(a, b)) {
    case 'int':
      return new Int32(Number(toBigInt(a) % toBigInt(b)));
    case 'long':
      return Long.fromBigInt(toBigInt(a) % toBigInt(b));
    case 'double':
      return new Double(toDouble(a) % toDouble(b));
    default: {
      const [x, y] = [toDecimal(a), toDecimal(b)];
      if (x.special !== undefined || y.special === 'NaN') return Decimal128.fromString('NaN');
      if (y.special !== undefined) return encodeDecimal(x);
      const exponent = Math.min(x.exponent, y.exponent);
      const scale = (decimal: typeof x) => decimal.coefficient * 10n ** BigInt(decimal.exponent - exponent);
      return encodeDecimal({ coefficient: scale(x) % scale(y), exponent });
    }
  }
}

function viaDouble(value: unknown, evaluate: (value: number) => number): unknown {
  const result = evaluate(toDouble(value));
  return typeName(value) === 'decimal' ? encodeDecimal(toDecimal(new Double(result))) : new Double(result);
}

function positive(value: unknown, name: string, code: number): unknown {
  if (toDouble(value) <= 0) throw new CommandError(code, `${name}'s argument must be a positive number`);
  return value;
}

type Rounding = 'ceil' | 'floor' | 'trunc' | 'half';

function rounding(mode: Rounding): Operator {
  return operator(1, 2, ([value, place], name) => {
    if (isNullish(value) || place === null) return null;
    if (!isNumber(value)) throw new CommandError(51081, `${name} only supports numeric types, not ${typeName(value)}`);
    const digits = place === undefined ? 0n : isNumber(place) ? wholeNumber(place) : undefined;
    if (digits === undefined) throw new CommandError(51082, `precision argument to ${name} must be a integral value`);
    if (digits < -20n || digits > 100n) {
      throw new CommandError(51083, `cannot apply ${name} with precision value ${digits} value must be in [-20, 100]`);
    }
    return roundTo(value, Number(digits), mode);
  });
}

/** Pads a decimal with zeros up to a decimal place, as far as its 34 digits allow. */
function padded({ coefficient, exponent }: Decimal, place: number): Decimal128 {
  const wider = coefficient * 10n ** BigInt(exponent + place);
  return encodeDecimal(
    wider.toString().length <= 34 ? { coefficient: wider, exponent: -place } : { coefficient, exponent },
  );
}

/** Rounds to a decimal place (half to even). Ints and longs keep their type. */
function roundTo(value: unknown, place: number, mode: Rounding): unknown {
  const kind = typeName(asBsonNumber(value));
  if ((kind === 'int' || kind === 'long') && place >= 0) return asBsonNumber(value);
  if (kind === 'double' && !Number.isFinite(toDouble(value))) return asBsonNumber(value);
  const exactly = kind === 'double' ? exactDecimal(toDouble(value)) : toDecimal(value);
  if (exactly.special !== undefined) return asBsonNumber(value);
  if (-exactly.exponent <= place) return kind === 'decimal' ? padded(exactly, place) : asBsonNumber(value);
  const unit = 10n ** BigInt(-exactly.exponent - place);
  let quotient = exactly.coefficient / unit;
  const rest = exactly.coefficient % unit;
  const sign = exactly.coefficient < 0n ? -1n : 1n;
  const twice = rest * sign * 2n;
  if (mode === 'half' && (twice > unit || (twice === unit && quotient % 2n !== 0n))) quotient += sign;
  if (mode === 'ceil' && rest > 0n) quotient += 1n;
  if (mode === 'floor' && rest < 0n) quotient -= 1n;
  const rounded = { coefficient: quotient, exponent: -place };
  if (kind === 'decimal') return encodeDecimal(rounded);
  if (kind === 'double') return new Double(Number(`${quotient}E${-place}`) * (quotient === 0n && sign < 0n ? -1 : 1));
  const whole = quotient * 10n ** BigInt(-place);
  return kind === 'int' && BigInt.asIntN(32, whole) === whole ? new Int32(Number(whole)) : Long.fromBigInt(whole);
}
