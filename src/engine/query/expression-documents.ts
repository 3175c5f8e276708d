import { CommandError } from '../errors.ts';
import {
  type Compile,
  type Expression,
  isNullish,
  namedOperands,
  type Operator,
  operator,
} from './expression-types.ts';
import { asDoc, type Doc, getField, isDoc, setField, typeName } from './types.ts';

const fail = (code: number, message: string): never => {
  throw new CommandError(code, message);
};

/** Operators on documents. `$getField` and `$setField` take field names literally, including dots and `$`. */
export const DOCUMENTS: Readonly<Record<string, Operator>> = {
  $mergeObjects: operator(0, Number.POSITIVE_INFINITY, (values, name) => mergeObjects(values, name)),
  $objectToArray: operator(1, 1, ([value], name) => {
    if (isNullish(value)) return null;
    const doc = asDoc(value) ?? fail(40390, `${name} requires a document input, found: ${typeName(value)}`);
    return Object.keys(doc).map((k) => ({ k, v: doc[k] }));
  }),
  $arrayToObject: operator(1, 1, ([value], name) => {
    if (isNullish(value)) return null;
    const result: Doc = {};
    for (const entry of Array.isArray(value)
      ? value
      : fail(40386, `${name} requires an array input, found: ${typeName(value)}`)) {
      const [key, field] = Array.isArray(entry)
        ? entry
        : [getField(asDoc(entry) ?? {}, 'k'), getField(asDoc(entry) ?? {}, 'v')];
      if (typeof key !== 'string')
        return fail(
          40394,
          `${name} requires an array of key-value pairs, where the key must be of type string. Found key type: ${typeName(key)}`,
        );
      setField(result, key, field);
    }
    return result;
  }),
  $getField: (operand, compile, name) => {
    const named = isDoc(operand) && Object.hasOwn(operand, 'field');
    const { field, input = '$$CURRENT' } = named
      ? namedOperands(operand, name, ['field', 'input'], ['field'], 3041702)
      : { field: operand };
    const [nameOf, source] = [compile(field), compile(input)];
    return (environment) => {
      const key = nameOf(environment);
      if (typeof key !== 'string') return fail(5654602, `${name} requires 'field' to evaluate to type String`);
      const value = source(environment);
      if (value === null) return null;
      const doc = asDoc(value);
      return doc === undefined ? undefined : getField(doc, key);
    };
  },
  $setField: (operand, compile, name) => {
    const fields = ['field', 'input', 'value'];
    const named = namedOperands(operand, name, fields, fields, 4161100);
    return fieldSetter(named.field, named.input, compile(named.value), compile, name);
  },
  $unsetField: (operand, compile, name) => {
    const named = namedOperands(operand, name, ['field', 'input'], ['field', 'input'], 4161100);
    return fieldSetter(named.field, named.input, () => undefined, compile, name);
  },
};

/** Compiles an expression that copies a document with one field set, or removed if the value is missing. */
function fieldSetter(field: unknown, input: unknown, value: Expression, compile: Compile, name: string): Expression {
  const literal = isDoc(field) && Object.keys(field).length === 1 ? field.$literal : field;
  if (typeof literal !== 'string') {
    return fail(4161106, `${name} requires 'field' to evaluate to a constant of type String`);
  }
  if (literal === field && literal.startsWith('$')) {
    return fail(
      4161108,
      `A field path reference which is not allowed in this context. Did you mean {$literal: '${literal}'}?`,
    );
  }
  const source = compile(input);
  return (environment) => {
    const target = source(environment);
    if (isNullish(target)) return null;
    const copy = { ...(asDoc(target) ?? fail(4161105, `${name} requires 'input' to evaluate to type Object`)) };
    const set = value(environment);
    if (set === undefined) delete copy[literal];
    else setField(copy, literal, set);
    return copy;
  };
}

/** Merges documents; later fields override earlier ones. Null and missing are skipped. */
export function mergeObjects(values: readonly unknown[], name = '$mergeObjects'): Doc {
  const merged: Doc = {};
  for (const value of values) {
    if (isNullish(value)) continue;
    const doc =
      asDoc(value) ??
      fail(40400, `${name} requires object inputs, but input ${String(value)} is of type ${typeName(value)}`);
    for (const field of Object.keys(doc)) setField(merged, field, doc[field]);
  }
  return merged;
}
