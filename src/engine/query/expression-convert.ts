import { Decimal128, Double, Int32, Long, ObjectId } from 'bson';
import { CommandError } from '../errors.ts';
import { stringOf } from './compare.ts';
import { dateAt, isNullish, namedOperands, type Operator, operator } from './expression-types.ts';
import { encodeDecimal, isNumber, toDecimal, toDouble } from './numbers.ts';
import { isTruthy, TYPE_NUMBERS, type TypeName, typeName, wholeNumber } from './types.ts';

const CONVERSION_FAILURE = 'ConversionFailure';

type Target = 'double' | 'string' | 'objectId' | 'bool' | 'date' | 'int' | 'long' | 'decimal';

const TARGETS: readonly string[] = ['double', 'string', 'objectId', 'bool', 'date', 'int', 'long', 'decimal'];

/** Operators for types and conversions. */
export const CONVERSIONS: Readonly<Record<string, Operator>> = {
  $type: operator(1, 1, ([value]) => typeName(value)),
  $isNumber: operator(1, 1, ([value]) => isNumber(value)),
  $toDouble: to('double'),
  $toString: to('string'),
  $toObjectId: to('objectId'),
  $toBool: to('bool'),
  $toDate: to('date'),
  $toInt: to('int'),
  $toLong: to('long'),
  $toDecimal: to('decimal'),
  $convert: (operand, compile, name) => {
    const named = namedOperands(operand, name, ['input', 'to', 'onError', 'onNull'], ['input', 'to']);
    const [input, target] = [compile(named.input), compile(named.to)];
    const onNull = compile(named.onNull ?? null);
    const onError = Object.hasOwn(named, 'onError') ? compile(named.onError) : undefined;
    return (environment) => {
      const type = target(environment);
      if (isNullish(type)) return null;
      const known =
        typeof type === 'string'
          ? type
          : Object.keys(TYPE_NUMBERS).find((key) => isNumber(type) && TYPE_NUMBERS[key] === toDouble(type));
      if (known === undefined || !TARGETS.includes(known)) {
        throw new CommandError(
          'BadValue',
          `In ${name}, numeric 'to' argument or type name is unknown: ${String(type)}`,
        );
      }
      const value = input(environment);
      if (isNullish(value)) return onNull(environment);
      try {
        return convert(value, known as Target);
      } catch (error) {
        if (onError !== undefined && error instanceof CommandError && error.codeName === CONVERSION_FAILURE)
          return onError(environment);
        throw error;
      }
    };
  },
};

function to(target: Target): Operator {
  return operator(1, 1, ([value]) => (isNullish(value) ? null : convert(value, target)));
}

const failure = (message: string): never => {
  throw new CommandError(CONVERSION_FAILURE, message);
};

function convert(value: unknown, target: Target): unknown {
  const type = typeName(value);
  if (type === target) return value;
  switch (target) {
    case 'bool':
      return isTruthy(value);
    case 'string':
      return toText(value, type);
    case 'objectId':
      if (type === 'string' && /^[0-9a-fA-F]{24}$/.test(stringOf(value))) return new ObjectId(stringOf(value));
      if (type === 'string')
        return failure(`Failed to parse objectId '${stringOf(value)}' in $convert with no onError value`);
      return unsupported(type, target);
    case 'date':
      return toDate(value, type);
    default:
      return toNumber(value, type, target);
  }
}

function unsupported(type: TypeName, target: Target): never {
  return failure(`Unsupported conversion from ${type} to ${target} in $convert with no onError value`);
}

function toText(value: unknown, type: TypeName): string {
  switch (type) {
    case 'int':
    case 'long':
    case 'double':
    case 'decimal':
    case 'bool':
      return String(value);
    case 'objectId':
      return (value as ObjectId).toHexString();
    case 'date':
      return dateAt((value as Date).getTime()).toISOString();
    case 'symbol':
      return stringOf(value);
    default:
      return unsupported(type, 'string');
  }
}

function toDate(value: unknown, type: TypeName): Date {
  switch (type) {
    case 'long':
    case 'double':
    case 'decimal':
      return dateAt(Math.trunc(toDouble(value)));
    case 'objectId':
      return (value as ObjectId).getTimestamp();
    case 'timestamp':
      return new Date((value as { t: number }).t * 1000);
    case 'string': {
      const text = stringOf(value);
      const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/.exec(text);
      const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text.slice(10)) || text.length === 10 ? text : `${text}Z`;
      const date = new Date(zoned.replace(' ', 'T').replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
      return iso && !Number.isNaN(date.getTime()) ? date : failure(`Error parsing date string '${text}'`);
    }
    default:
      return unsupported(type, 'date');
  }
}

function toNumber(value: unknown, type: TypeName, target: 'double' | 'int' | 'long' | 'decimal'): unknown {
  if (type === 'bool') return narrowed(new Int32(value ? 1 : 0), target);
  if (type === 'date')
    return target === 'int' ? unsupported(type, target) : narrowed(Long.fromNumber((value as Date).getTime()), target);
  if (type === 'string') return parseNumber(stringOf(value), target);
  return isNumber(value) ? narrowed(value, target) : unsupported(type, target);
}

function narrowed(value: unknown, target: 'double' | 'int' | 'long' | 'decimal'): unknown {
  if (target === 'double') return new Double(toDouble(value));
  if (target === 'decimal') return encodeDecimal(toDecimal(value));
  const number = toDouble(value);
  if (!Number.isFinite(number))
    return failure(`Attempt to convert ${number} value to integer type in $convert with no onError value`);
  const whole = wholeNumber(value) ?? wholeNumber(Math.trunc(number));
  const bits = target === 'int' ? 32 : 64;
  if (whole === undefined || BigInt.asIntN(bits, whole) !== whole) {
    return failure(`Conversion would overflow target type in $convert with no onError value: ${String(value)}`);
  }
  return target === 'int' ? new Int32(Number(whole)) : Long.fromBigInt(whole);
}

function parseNumber(text: string, target: 'double' | 'int' | 'long' | 'decimal'): unknown {
  const wrong = () => failure(`Failed to parse number '${text}' in $convert with no onError value`);
  if (target === 'int' || target === 'long') {
    return /^[+-]?\d+$/.test(text) ? narrowed(encodeWhole(BigInt(text), wrong), target) : wrong();
  }
  if (!/^[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|Infinity|NaN|inf)$/i.test(text)) return wrong();
  return target === 'double'
    ? new Double(Number(text.replace(/^([+-]?)inf(inity)?$/i, '$1Infinity')))
    : Decimal128.fromStringWithRounding(text);
}

function encodeWhole(whole: bigint, wrong: () => never): Long {
  return BigInt.asIntN(64, whole) === whole ? Long.fromBigInt(whole) : wrong();
}
