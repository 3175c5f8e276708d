import { Int32, Long, Timestamp } from 'bson';
import { CommandError } from '../errors.ts';
import { addNumbers, asBsonNumber, isIntegral, multiplyNumbers, toBigInt } from './arithmetic.ts';
import { compareValues } from './compare.ts';
import { describe } from './describe.ts';
import { isNumber } from './numbers.ts';
import { asDoc, typeName } from './types.ts';
import { ARRAY_OPERATORS } from './update-arrays.ts';
import type { LeafContext, OperatorDefinition, Outcome } from './update-types.ts';

/** The update operators that apply to one path. The parser handles `$rename` and `$setOnInsert`. */
export const OPERATORS: Readonly<Record<string, OperatorDefinition>> = {
  $set: { creates: true, compile: (value) => () => ({ value }) },
  $unset: { creates: false, compile: () => (current) => (current === undefined ? undefined : 'remove') },
  $inc: { creates: true, compile: (operand, path) => arithmetic('$inc', operand, path) },
  $mul: { creates: true, compile: (operand, path) => arithmetic('$mul', operand, path) },
  $min: { creates: true, compile: (operand) => extreme(operand, -1) },
  $max: { creates: true, compile: (operand) => extreme(operand, 1) },
  $currentDate: { creates: true, compile: currentDate },
  $bit: { creates: true, compile: bit },
  ...ARRAY_OPERATORS,
};

function arithmetic(operator: '$inc' | '$mul', operand: unknown, path: string) {
  if (!isNumber(operand)) {
    const verb = operator === '$inc' ? 'increment' : 'multiply';
    throw new CommandError('TypeMismatch', `Cannot ${verb} with non-numeric argument: {${path}: ${describe(operand)}}`);
  }
  return (current: unknown, { doc, path: at }: LeafContext): Outcome => {
    if (current === undefined) {
      return { value: operator === '$inc' ? operand : multiplyNumbers(asBsonNumber(operand), new Int32(0)) };
    }
    if (!isNumber(current)) {
      throw new CommandError(
        'TypeMismatch',
        `Cannot apply ${operator} to a value of non-numeric type. {_id: ${describe(doc._id)}} has the field '${lastName(at)}' of non-numeric type ${typeName(current)}`,
      );
    }
    const value = operator === '$inc' ? addNumbers(current, operand) : multiplyNumbers(current, operand);
    if (value === undefined) {
      throw new CommandError(
        'BadValue',
        `Failed to apply ${operator} operations to current value ((NumberLong)${toBigInt(current)}) for document {_id: ${describe(doc._id)}}`,
      );
    }
    return { value };
  };
}

function extreme(operand: unknown, sign: 1 | -1) {
  return (current: unknown): Outcome =>
    current === undefined || Math.sign(compareValues(operand, current)) === sign ? { value: operand } : undefined;
}

function currentDate(operand: unknown): (current: unknown, context: LeafContext) => Outcome {
  let type = 'date';
  const doc = asDoc(operand);
  if (doc !== undefined) {
    const unknown = Object.keys(doc).find((name) => name !== '$type');
    if (unknown !== undefined) throw new CommandError('BadValue', `Unrecognized $currentDate option: ${unknown}`);
    if (doc.$type !== 'date' && doc.$type !== 'timestamp') {
      throw new CommandError(
        'BadValue',
        "The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}",
      );
    }
    type = doc.$type;
  } else if (typeof operand !== 'boolean') {
    throw new CommandError(
      'BadValue',
      `${typeName(operand)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    );
  }
  return (_current, { now = new Date() }) => ({
    value: type === 'date' ? now : new Timestamp({ t: Math.floor(now.getTime() / 1000), i: 1 }),
  });
}

const BITWISE: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
};

function bit(operand: unknown, path: string): (current: unknown, context: LeafContext) => Outcome {
  const doc = asDoc(operand);
  if (doc === undefined) {
    throw new CommandError(
      'BadValue',
      `The $bit modifier is not compatible with a ${typeName(operand)}. You must pass in an embedded document: {$bit: {field: {and/or/xor: #}}`,
    );
  }
  const steps = Object.entries(doc).map(([name, mask]) => {
    const operation = Object.hasOwn(BITWISE, name) ? BITWISE[name] : undefined;
    if (operation === undefined) {
      throw new CommandError(
        'BadValue',
        `The $bit modifier only supports 'and', 'or', and 'xor', not '${name}' which is an unknown operator: {${name}: ${describe(mask)}}`,
      );
    }
    if (!isIntegral(mask)) {
      throw new CommandError(
        'BadValue',
        `The $bit modifier field must be an Integer(32/64 bit); a '${typeName(mask)}' is not supported here: {${name}: ${describe(mask)}}`,
      );
    }
    return { operation, mask };
  });
  if (steps.length === 0) {
    throw new CommandError(
      'BadValue',
      `You must pass in at least one bitwise operation. The format is: {$bit: {field: {and/or/xor: #}}`,
    );
  }
  return (current, { doc: target }) => {
    if (current !== undefined && !isIntegral(current)) {
      throw new CommandError(
        'BadValue',
        `Cannot apply $bit to a value of non-integral type.{_id: ${describe(target._id)}} has the field ${lastName(path)} of non-integer type ${typeName(current)}`,
      );
    }
    let value: unknown = current ?? new Int32(0);
    for (const { operation, mask } of steps) {
      const result = operation(toBigInt(value), toBigInt(mask));
      value =
        typeName(value) === 'long' || typeName(mask) === 'long' ? Long.fromBigInt(result) : new Int32(Number(result));
    }
    return { value };
  };
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
