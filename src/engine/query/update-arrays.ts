import { CommandError } from '../errors.ts';
import { valuesEqual } from './compare.ts';
import { elementOrder } from './element-order.ts';
import { isOperatorDoc, parseFilter } from './filter-parse.ts';
import { compileFilter, compileNode } from './match.ts';
import { isNumber } from './numbers.ts';
import { asDoc, isDoc, RANK, typeName, typeRank, wholeNumber } from './types.ts';
import type { LeafContext, OperatorDefinition, Outcome } from './update-types.ts';

type Apply = (current: unknown, context: LeafContext) => Outcome;

/** The array update operators. */
export const ARRAY_OPERATORS: Readonly<Record<string, OperatorDefinition>> = {
  $push: { creates: true, compile: push },
  $addToSet: { creates: true, compile: addToSet },
  $pop: { creates: false, compile: pop },
  $pull: { creates: false, compile: (condition) => pull(pullTest(condition)) },
  $pullAll: { creates: false, compile: pullAll },
};

const bad = (message: string): never => {
  throw new CommandError('BadValue', message);
};

interface PushClauses {
  each: unknown[];
  position: number | undefined;
  slice: number | undefined;
  order: ((a: unknown, b: unknown) => number) | undefined;
}

function push(operand: unknown): Apply {
  const { each, position, slice, order } = pushClauses(operand);
  return (current, context) => {
    if (current !== undefined && !Array.isArray(current)) {
      return bad(
        `The field '${context.path}' must be an array but is of type ${typeName(current)} in document {_id: ${String(context.doc._id)}}`,
      );
    }
    const before = current ?? [];
    const at = insertAt(before.length, position);
    let after = [...before.slice(0, at), ...each, ...before.slice(at)];
    const grown = after.length;
    if (order !== undefined) after.sort(order);
    if (slice !== undefined) after = slice >= 0 ? after.slice(0, slice) : after.slice(slice);
    if (current === undefined) return { value: after };
    const appended = order === undefined && at === before.length && after.length === grown;
    if (appended) return each.length === 0 ? undefined : { value: after, appendedFrom: before.length };
    // `$sort` counts as a change even if the array was already sorted.
    return { value: after, always: order !== undefined };
  };
}

function insertAt(length: number, position: number | undefined): number {
  if (position === undefined || position >= length) return length;
  return position >= 0 ? position : Math.max(0, length + position);
}

function pushClauses(operand: unknown): PushClauses {
  const clauses: PushClauses = { each: [operand], position: undefined, slice: undefined, order: undefined };
  const doc = asDoc(operand);
  if (doc === undefined || !Object.hasOwn(doc, '$each')) return clauses;
  for (const [name, value] of Object.entries(doc)) {
    switch (name) {
      case '$each':
        if (!Array.isArray(value)) {
          return bad(`The argument to $each in $push must be an array but it was of type: ${typeName(value)}`);
        }
        clauses.each = value;
        break;
      case '$position':
        clauses.position = integer('$position', value);
        break;
      case '$slice':
        clauses.slice = integer('$slice', value);
        break;
      case '$sort':
        clauses.order = elementOrder(value, bad);
        break;
      default:
        return bad(`Unrecognized clause in $push: ${name}`);
    }
  }
  return clauses;
}

function integer(name: string, value: unknown): number {
  const whole = isNumber(value) ? wholeNumber(value) : undefined;
  return whole === undefined
    ? bad(`The value for ${name} must be an integer value but was given type: ${typeName(value)}`)
    : Number(whole);
}

function addToSet(operand: unknown): Apply {
  let values = [operand];
  const doc = asDoc(operand);
  if (doc !== undefined && Object.keys(doc)[0] === '$each') {
    if (!Array.isArray(doc.$each)) {
      throw new CommandError(
        'TypeMismatch',
        `The argument to $each in $addToSet must be an array but it was of type ${typeName(doc.$each)}`,
      );
    }
    if (Object.keys(doc).length > 1) return bad('Found unexpected fields after $each in $addToSet');
    values = doc.$each;
  }
  return (current, { path }) => {
    if (current !== undefined && !Array.isArray(current)) {
      return bad(
        `Cannot apply $addToSet to non-array field. Field named '${path.slice(path.lastIndexOf('.') + 1)}' has non-array type ${typeName(current)}`,
      );
    }
    const after = [...(current ?? [])];
    for (const value of values) if (!after.some((known) => valuesEqual(known, value))) after.push(value);
    if (current === undefined) return { value: after };
    return after.length === current.length ? undefined : { value: after, appendedFrom: current.length };
  };
}

function pop(operand: unknown, path: string): Apply {
  if (!isNumber(operand)) throw new CommandError('FailedToParse', `Expected a number in: ${path}: ${String(operand)}`);
  const side = wholeNumber(operand);
  if (side !== 1n && side !== -1n)
    throw new CommandError('FailedToParse', `$pop expects 1 or -1, found: ${String(operand)}`);
  return (current, context) => {
    if (current === undefined) return undefined;
    if (!Array.isArray(current)) {
      throw new CommandError(
        'TypeMismatch',
        `Path '${context.path}' contains an element of non-array type '${typeName(current)}'`,
      );
    }
    if (current.length === 0) return undefined;
    return { value: side === 1n ? current.slice(0, -1) : current.slice(1) };
  };
}

function pull(matches: (element: unknown) => boolean): Apply {
  return (current) => {
    if (current === undefined) return undefined;
    if (!Array.isArray(current)) return bad('Cannot apply $pull to a non-array value');
    const value = current.filter((element) => !matches(element));
    return value.length === current.length ? undefined : { value };
  };
}

/**
 * Compiles the condition of a `$pull`. An operator document or a regular expression tests each element; any other
 * document is a filter for the elements that are documents.
 */
function pullTest(condition: unknown): (element: unknown) => boolean {
  if (isOperatorDoc(condition) || typeRank(condition) === RANK.regex) {
    const test = compileNode(parseFilter({ element: condition }));
    return (element) => test({ element });
  }
  if (isDoc(condition)) {
    const filter = compileFilter(condition);
    return (element) => {
      const doc = asDoc(element);
      return doc !== undefined && filter(doc);
    };
  }
  return (element) => valuesEqual(element, condition);
}

function pullAll(operand: unknown): Apply {
  if (!Array.isArray(operand)) return bad(`$pullAll requires an array argument but was given a ${typeName(operand)}`);
  return pull((element) => operand.some((value) => valuesEqual(value, element)));
}
