import { CommandError } from '../errors.ts';
import { ACCUMULATING } from './accumulators.ts';
import { describe } from './describe.ts';
import { ARITHMETIC } from './expression-arithmetic.ts';
import { ARRAYS } from './expression-arrays.ts';
import { CONVERSIONS } from './expression-convert.ts';
import { DATES } from './expression-dates.ts';
import { DOCUMENTS } from './expression-documents.ts';
import { checkedName, LOGIC } from './expression-logic.ts';
import { STRINGS } from './expression-strings.ts';
import {
  type Compile,
  countAllocation,
  type Environment,
  type Expression,
  type Operator,
  SLOT_BYTES,
} from './expression-types.ts';
import { splitPath } from './path.ts';
import { asDoc, type Doc, getField, isDoc, setField } from './types.ts';

export type { Environment, Expression } from './expression-types.ts';

const OPERATORS: Readonly<Record<string, Operator>> = {
  ...ACCUMULATING,
  ...LOGIC,
  ...ARITHMETIC,
  ...ARRAYS,
  ...STRINGS,
  ...CONVERSIONS,
  ...DATES,
  ...DOCUMENTS,
};

/** Operators that return newly allocated arrays and strings, whose size is counted. */
const ALLOCATING = new Set([
  ...Object.keys(STRINGS),
  '$concatArrays',
  '$filter',
  '$map',
  '$objectToArray',
  '$setUnion',
  '$slice',
]);

/** Variables that are defined in every expression. */
const SYSTEM = ['ROOT', 'CURRENT', 'NOW', 'REMOVE'];

/**
 * Compiles an aggregation expression. Evaluating it returns the value, or undefined for missing. `variables` are the
 * names that the environment will define besides `$$ROOT`, `$$CURRENT`, `$$NOW` and `$$REMOVE`.
 * @throws CommandError 168 for an unknown operator, 17276 for an unknown variable, and the codes of the operators.
 */
export function compileExpression(spec: unknown, variables: readonly string[] = []): Expression {
  const known = new Set([...SYSTEM, ...variables]);
  const compile: Compile = (inner, more) =>
    more === undefined ? compileWith(inner) : compileExpression(inner, [...known, ...more]);
  const compileWith = (inner: unknown): Expression => {
    if (typeof inner === 'string') return inner.startsWith('$') ? fieldPath(inner, known) : () => inner;
    if (Array.isArray(inner)) {
      const elements = inner.map(compileWith);
      return (environment) => elements.map((element) => element(environment) ?? null);
    }
    return isDoc(inner) ? compileDoc(inner, compile) : () => inner;
  };
  return compileWith(spec);
}

/** The environment for evaluating an expression on one document. */
export function environmentOf(doc: Doc, now: Date, variables: Doc = {}): Environment {
  return { root: doc, now, variables, allocated: { bytes: 0 } };
}

/**
 * Evaluates the `let` of a command, whose expressions have no document.
 * @throws CommandError 4890500 for an expression that reads a field.
 */
export function evaluateLet(spec: Doc, now: Date = new Date()): Doc {
  const environment = { now, variables: {}, allocated: { bytes: 0 } } as unknown as Environment;
  Object.defineProperty(environment, 'root', {
    get: () => {
      throw new CommandError(
        4890500,
        'Command let Expression tried to access a field, but this is not allowed because Let Expressions run before the query examines any documents.',
      );
    },
  });
  const values: Doc = {};
  for (const name of Object.keys(spec)) values[checkedName(name)] = compileExpression(spec[name])(environment) ?? null;
  return values;
}

function compileDoc(doc: Doc, compile: Compile): Expression {
  const names = Object.keys(doc);
  const operator = names.find((name) => name.startsWith('$'));
  if (operator !== undefined) {
    if (names.length > 1) {
      throw new CommandError(
        15983,
        `an object representing an expression must have exactly one field: ${describe(doc)}`,
      );
    }
    const definition = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (definition === undefined)
      throw new CommandError('InvalidPipelineOperator', `Unrecognized expression '${operator}'`);
    const evaluate = definition(doc[operator], compile, operator);
    return ALLOCATING.has(operator)
      ? (environment) => countedResult(evaluate(environment), environment, operator)
      : evaluate;
  }
  const fields = names.map((name): [string, Expression] => {
    if (name.includes('.')) {
      throw new CommandError(
        16412,
        `FieldPath field names may not contain '.'. Consider using $getField or $setField: ${name}`,
      );
    }
    return [name, compile(doc[name])];
  });
  return (environment) => {
    const result: Doc = {};
    for (const [name, field] of fields) {
      const value = field(environment);
      if (value !== undefined) setField(result, name, value);
    }
    return result;
  };
}

function countedResult(value: unknown, environment: Environment, operator: string): unknown {
  if (typeof value === 'string') countAllocation(environment, value.length, operator);
  else if (Array.isArray(value)) countAllocation(environment, value.length * SLOT_BYTES, operator);
  return value;
}

function fieldPath(text: string, known: ReadonlySet<string>): Expression {
  if (!text.startsWith('$$')) {
    const parts = checkedParts(text.slice(1));
    return ({ root }) => readPath(root, parts, 0);
  }
  const parts = splitPath(text.slice(2));
  const name = parts[0] as string;
  if (name === '') throw new CommandError('FailedToParse', 'empty variable names are not allowed');
  if (!known.has(name)) throw new CommandError(17276, `Use of undefined variable: ${name}`);
  const rest = parts.length > 1 ? checkedParts(parts.slice(1).join('.')) : [];
  const read = variable(name);
  return rest.length === 0 ? read : (environment) => readPath(read(environment), rest, 0);
}

function variable(name: string): Expression {
  switch (name) {
    case 'ROOT':
    case 'CURRENT':
      return ({ root, variables }) => (Object.hasOwn(variables, name) ? variables[name] : root);
    case 'NOW':
      return ({ now }) => now;
    case 'REMOVE':
      return () => undefined;
    default:
      return ({ variables }) => getField(variables, name);
  }
}

function checkedParts(path: string): string[] {
  if (path === '') throw new CommandError(16872, "'$' by itself is not a valid FieldPath");
  const parts = splitPath(path);
  if (parts.includes('')) {
    throw new CommandError(
      path.endsWith('.') ? 40353 : 15998,
      path.endsWith('.') ? "FieldPath must not end with a '.'." : 'FieldPath field names may not be empty strings.',
    );
  }
  if (parts.some((part) => part.startsWith('$'))) {
    throw new CommandError(
      16410,
      "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    );
  }
  return parts;
}

/**
 * Reads a path. Through an array it returns the list of the values in the array's documents; other elements are
 * skipped.
 */
function readPath(value: unknown, parts: readonly string[], at: number): unknown {
  if (at === parts.length) return value;
  if (Array.isArray(value)) {
    const found: unknown[] = [];
    for (const element of value) {
      const doc = asDoc(element);
      const inner = doc === undefined ? undefined : readPath(doc, parts, at);
      if (inner !== undefined) found.push(inner);
    }
    return found;
  }
  const doc = asDoc(value);
  return doc === undefined ? undefined : readPath(getField(doc, parts[at] as string), parts, at + 1);
}
