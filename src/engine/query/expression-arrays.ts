import { Int32 } from 'bson';
import { CommandError } from '../errors.ts';
import { compareValues, valuesEqual } from './compare.ts';
import { checkedName } from './expression-logic.ts';
import {
  countAllocation,
  folding,
  isNullish,
  namedOperands,
  type Operator,
  operator,
  SLOT_BYTES,
  VALUE_BYTES,
  withVariable,
} from './expression-types.ts';
import { isNumber, toDouble } from './numbers.ts';
import { isTruthy, typeName, wholeNumber } from './types.ts';

const fail = (code: number, message: string): never => {
  throw new CommandError(code, message);
};

/** Operators on arrays and documents. */
export const ARRAYS: Readonly<Record<string, Operator>> = {
  $isArray: operator(1, 1, ([value]) => Array.isArray(value)),
  $size: operator(1, 1, ([value], name) =>
    Array.isArray(value)
      ? new Int32(value.length)
      : fail(17124, `The argument to ${name} must be an array, but was of type: ${typeName(value)}`),
  ),
  $arrayElemAt: operator(2, 2, ([array, index], name) => {
    if (isNullish(array) || isNullish(index)) return null;
    if (!Array.isArray(array))
      return fail(28689, `${name}'s first argument must be an array, but is ${typeName(array)}`);
    if (!isNumber(index))
      return fail(28690, `${name}'s second argument must be a numeric value, but is ${typeName(index)}`);
    return array.at(
      int(index, 28691, `${name}'s second argument must be representable as a 32-bit integer: ${toDouble(index)}`),
    );
  }),
  $first: end(0),
  $last: end(-1),
  $in: operator(2, 2, ([value, array], name) =>
    Array.isArray(array)
      ? array.some((element) => valuesEqual(element, value))
      : fail(40081, `${name} requires an array as a second argument, found: ${typeName(array)}`),
  ),
  $concatArrays: joining(28664, (array) => array),
  $slice: operator(2, 3, (values, name) => slice(values, name)),
  $range: operator(2, 3, (values, name, environment) => {
    const [start, stop, step = 1] = values.map((value, i) =>
      isNumber(value)
        ? int(value, 34443 + 2 * i, `${name} requires an argument that can be represented as a 32-bit integer`)
        : fail(34443 + 2 * i, `${name} requires a numeric value, found value of type: ${typeName(value)}`),
    ) as [number, number, number?];
    if (step === 0) return fail(34449, `${name} requires a non-zero step value`);
    countAllocation(environment, Math.max(0, (stop - start) / step) * (SLOT_BYTES + VALUE_BYTES), name);
    const numbers: Int32[] = [];
    for (let i = start; step > 0 ? i < stop : i > stop; i += step) numbers.push(new Int32(i));
    return numbers;
  }),
  $map: (operand, compile, name) => {
    const {
      input,
      as = 'this',
      in: body,
    } = namedOperands(operand, name, ['input', 'as', 'in'], ['input', 'in'], 16879);
    const variable = checkedName(String(as));
    const [source, each] = [compile(input), compile(body, [variable])];
    return (environment) => {
      const array = source(environment);
      if (isNullish(array)) return null;
      if (!Array.isArray(array)) return fail(16883, `input to ${name} must be an array not ${typeName(array)}`);
      countAllocation(environment, array.length * VALUE_BYTES, name);
      return array.map((element) => each(withVariable(environment, variable, element)) ?? null);
    };
  },
  $filter: (operand, compile, name) => {
    const fields = ['input', 'as', 'cond', 'limit'];
    const { input, as = 'this', cond, limit } = namedOperands(operand, name, fields, ['input', 'cond'], 28647);
    const variable = checkedName(String(as));
    const [source, test] = [compile(input), compile(cond, [variable])];
    const most = limit === undefined ? undefined : compile(limit);
    return (environment) => {
      const array = source(environment);
      if (isNullish(array)) return null;
      if (!Array.isArray(array)) return fail(28651, `input to ${name} must be an array not ${typeName(array)}`);
      const bound = most?.(environment);
      const count = isNullish(bound)
        ? Number.POSITIVE_INFINITY
        : Number(isNumber(bound) ? (wholeNumber(bound) ?? 0n) : 0n);
      if (count < 1) return fail(327392, `${name}: limit must be greater than 0`);
      const kept: unknown[] = [];
      for (const element of array) {
        if (kept.length >= count) break;
        if (isTruthy(test(withVariable(environment, variable, element)))) kept.push(element);
      }
      return kept;
    };
  },
  $reduce: (operand, compile, name) => {
    const fields = ['input', 'initialValue', 'in'];
    const { input, initialValue, in: body } = namedOperands(operand, name, fields, fields, 40075);
    const [source, start, step] = [compile(input), compile(initialValue), compile(body, ['this', 'value'])];
    return (environment) => {
      const array = source(environment);
      if (isNullish(array)) return null;
      if (!Array.isArray(array))
        return fail(40080, `${name} requires that 'input' be an array, found: ${typeName(array)}`);
      let value = start(environment);
      for (const element of array)
        value = step(withVariable(withVariable(environment, 'value', value), 'this', element));
      return value;
    };
  },
  $setUnion: joining(17043, unique),
};

function end(position: 0 | -1): Operator {
  return operator(1, 1, ([array], name) => {
    if (isNullish(array)) return null;
    return Array.isArray(array)
      ? array.at(position)
      : fail(28689, `${name}'s argument must be an array, but is ${typeName(array)}`);
  });
}

function slice([array, a, b]: readonly unknown[], name: string): unknown {
  if (isNullish(array) || isNullish(a) || b === null) return null;
  if (!Array.isArray(array))
    return fail(28724, `First argument to ${name} must be an array, but is of type: ${typeName(array)}`);
  if (!isNumber(a))
    return fail(28725, `Second argument to ${name} must be a numeric value, but is of type: ${typeName(a)}`);
  const first = int(a, 28726, `Second argument to ${name} can't be represented as a 32-bit integer: ${toDouble(a)}`);
  if (b === undefined) return first >= 0 ? array.slice(0, first) : array.slice(first);
  if (!isNumber(b)) return fail(28727, `Third argument to ${name} must be numeric, but is of type: ${typeName(b)}`);
  const count = int(b, 28728, `Third argument to ${name} can't be represented as a 32-bit integer: ${toDouble(b)}`);
  if (count <= 0) return fail(28729, `Third argument to ${name} must be positive: ${count}`);
  const start = first >= 0 ? first : Math.max(0, array.length + first);
  return array.slice(start, start + count);
}

function joining(code: number, finish: (elements: unknown[]) => unknown[]): Operator {
  return folding(
    () => [] as unknown[],
    (sofar, value, name) => sofar.concat(asArray(value, code, name)),
    finish,
  );
}

function unique(values: unknown[]): unknown[] {
  const sorted = values.toSorted(compareValues);
  return sorted.filter((value, i) => i === 0 || !valuesEqual(value, sorted[i - 1]));
}

function asArray(value: unknown, code: number, name: string): unknown[] {
  return Array.isArray(value) ? value : fail(code, `${name} requires an array, found: ${typeName(value)}`);
}

function int(value: unknown, code: number, message: string): number {
  const whole = wholeNumber(value);
  return whole !== undefined && BigInt.asIntN(32, whole) === whole ? Number(whole) : fail(code, message);
}
