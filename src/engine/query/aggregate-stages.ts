import { Long } from 'bson';
import { CommandError } from '../errors.ts';
import type { Run, Stage, StageCompiler } from './aggregate-types.ts';
import { compareBytes } from './compare.ts';
import { describe } from './describe.ts';
import { compileExpression, type Environment, environmentOf } from './expression.ts';
import { compileFilter } from './match.ts';
import { MemoryBudget } from './memory-budget.ts';
import { isNumber } from './numbers.ts';
import { splitPath } from './path.ts';
import { drained, filtered, mapped, PAUSE } from './pause.ts';
import { parseProjection } from './projection-parse.ts';
import { compute, exclude, hasComputed, include, type Tree } from './projection-tree.ts';
import { compileSortKey } from './sort.ts';
import { Sorter } from './sorter.ts';
import { asDoc, type Doc, getField, isDoc, setField, typeName, wholeNumber } from './types.ts';

function fail(code: number, message: string): never {
  throw new CommandError(code, message);
}

/** The environment for evaluating an expression on a document. */
export function environment(doc: Doc, { now, variables }: Run): Environment {
  return environmentOf(doc, now, variables);
}

export const match: StageCompiler = (operand, variables) => {
  const filter = asDoc(operand) ?? fail(15959, 'the match filter must be an expression in an object');
  const placeholders = Object.fromEntries(variables.map((name) => [name, null]));
  const compiled = compileFilter(filter, placeholders);
  return (source, run) => filtered(source, variables.length === 0 ? compiled : compileFilter(filter, run.variables));
};

export const project: StageCompiler = (operand, variables) => {
  const spec = asDoc(operand) ?? fail(15969, '$project specification must be an object');
  if (Object.keys(spec).length === 0) {
    return fail(51272, 'Invalid $project :: caused by :: projection specification must have at least one field');
  }
  const { exclusive, tree } = parseProjection(spec, 'aggregate', variables);
  const computed = hasComputed(tree);
  return (source, run) =>
    mapped(source, (doc) => {
      const kept = exclusive ? exclude(doc, tree) : include(doc, tree);
      return computed ? compute(kept, tree, environment(doc, run)) : kept;
    });
};

export const addFields: StageCompiler = (operand, variables) => {
  const spec =
    asDoc(operand) ?? fail(40272, `$addFields specification stage must be an object, got ${typeName(operand)}`);
  const tree: Tree = new Map();
  collectFields(spec, [], tree, variables);
  return (source, run) => mapped(source, (doc) => compute({ ...doc }, tree, environment(doc, run)));
};

function collectFields(spec: Doc, prefix: string[], tree: Tree, variables: readonly string[]): void {
  for (const name of Object.keys(spec)) {
    const parts = [...prefix, ...checkedParts(name)];
    const value = spec[name];
    const nested = isDoc(value) && !Object.keys(value).some((field) => field.startsWith('$'));
    if (nested && Object.keys(value).length === 0) {
      fail(40180, `an empty object is not a valid value. Found at path ${parts.join('.')}`);
    }
    if (nested) collectFields(value, parts, tree, variables);
    else putComputed(tree, parts, value, variables);
  }
}

function putComputed(root: Tree, parts: string[], spec: unknown, variables: readonly string[]): void {
  let tree = root;
  for (const part of parts.slice(0, -1)) {
    const next = tree.get(part) ?? new Map();
    if (!(next instanceof Map))
      fail(
        40176,
        `Invalid $addFields :: caused by :: specification contains two conflicting paths: ${parts.join('.')}`,
      );
    tree.set(part, next);
    tree = next;
  }
  const name = parts.at(-1) as string;
  if (tree.has(name))
    fail(40176, `Invalid $addFields :: caused by :: specification contains two conflicting paths: ${parts.join('.')}`);
  tree.set(name, { compute: compileExpression(spec, variables) });
}

/**
 * Splits a field path into its components. Errors 40352, 15998 and 16410 for a path that is empty or begins with `$`.
 */
export function checkedParts(path: string): string[] {
  const parts = splitPath(path);
  if (path === '') fail(40352, 'FieldPath cannot be constructed with empty string');
  if (parts.includes('')) fail(15998, 'FieldPath field names may not be empty strings.');
  if (parts.some((part) => part.startsWith('$'))) {
    fail(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.");
  }
  return parts;
}

export const unset: StageCompiler = (operand) => {
  const paths = typeof operand === 'string' ? [operand] : operand;
  if (!Array.isArray(paths)) return fail(31002, '$unset specification must be a string or an array');
  if (paths.length === 0)
    return fail(31119, '$unset specification must be a string or an array with at least one field');
  const spec: Doc = {};
  for (const path of paths) {
    if (typeof path !== 'string')
      return fail(31120, '$unset specification must be a string or an array containing only string values');
    setField(spec, path, 0);
  }
  const { tree } = parseProjection(spec, 'aggregate');
  return (source) => mapped(source, (doc) => exclude(doc, tree));
};

function replaceBy(spec: unknown, variables: readonly string[], name: string): ReturnType<StageCompiler> {
  const newRoot = compileExpression(spec, variables);
  return (source, run) =>
    mapped(source, (doc) => {
      const value = newRoot(environment(doc, run));
      return (
        asDoc(value) ??
        fail(
          40228,
          `'${name}' expression must evaluate to an object, but resulting value was: ${describe(value)}. Type of resulting value: '${typeName(value)}'.`,
        )
      );
    });
}

export const replaceRoot: StageCompiler = (operand, variables) => {
  const spec =
    asDoc(operand) ??
    fail(40229, `expected an object as specification for $replaceRoot stage, got ${typeName(operand)}`);
  const unknown = Object.keys(spec).find((name) => name !== 'newRoot');
  if (unknown !== undefined) return fail(40415, `BSON field '$replaceRoot.${unknown}' is an unknown field.`);
  if (!Object.hasOwn(spec, 'newRoot')) return fail(40231, 'no newRoot specified for the $replaceRoot stage');
  return replaceBy(spec.newRoot, variables, 'newRoot');
};

export const replaceWith: StageCompiler = (operand, variables) => replaceBy(operand, variables, 'replacement document');

export const limit: StageCompiler = (operand) => {
  const most = whole('$limit', operand, 5107201);
  if (most < 0)
    return fail(5107201, `invalid argument to $limit stage: Expected a non-negative number in: $limit: ${most}`);
  if (most === 0) return fail(15958, 'the limit must be positive');
  return function* (source) {
    let left = most;
    for (const doc of source) {
      yield doc;
      if (doc !== PAUSE) left -= 1;
      if (left === 0) return;
    }
  };
};

export const skip: StageCompiler = (operand) => {
  const count = whole('$skip', operand, 5107200);
  if (count < 0)
    return fail(5107200, `invalid argument to $skip stage: Expected a non-negative number in: $skip: ${count}`);
  return (source) => {
    let left = count;
    return filtered(source, () => left-- <= 0);
  };
};

function whole(name: string, operand: unknown, code: number): number {
  const value = isNumber(operand) ? wholeNumber(operand) : undefined;
  return value === undefined
    ? fail(code, `invalid argument to ${name} stage: Expected a number in: ${name}: ${describe(operand)}`)
    : Number(value);
}

export const sort: StageCompiler = (operand) => sorting(operand, Number.POSITIVE_INFINITY);

/** Compiles a `$sort`. With a small `$limit` after it, only the first `most` documents are kept in memory. */
export function sorting(operand: unknown, most: number): Stage {
  const spec = asDoc(operand) ?? fail(15973, 'the $sort key specification must be an object');
  if (Object.keys(spec).length === 0) return fail(15976, '$sort stage must have at least one sort key');
  const keyOf = compileSortKey(spec);
  return function* (source) {
    const budget = new MemoryBudget('$sort');
    const byKey = (a: Keyed, b: Keyed): number => compareBytes(a.key, b.key);
    const sorter = new Sorter<Keyed>(byKey, most, ({ doc }) => budget.release(doc));
    yield* drained(source, (doc) => {
      budget.take(doc);
      sorter.add({ doc, key: keyOf(doc) });
    });
    yield* mapped(sorter.sorted(), ({ doc }) => doc);
  };
}

interface Keyed {
  doc: Doc;
  key: Uint8Array;
}

const UNWIND_FIELDS = ['path', 'includeArrayIndex', 'preserveNullAndEmptyArrays'];

export const unwind: StageCompiler = (operand) => {
  const spec = typeof operand === 'string' ? { path: operand } : asDoc(operand);
  if (spec === undefined)
    return fail(
      15981,
      `expected either a string or an object as specification for $unwind stage, got ${typeName(operand)}`,
    );
  const unknown = Object.keys(spec).find((name) => !UNWIND_FIELDS.includes(name));
  if (unknown !== undefined) return fail(28811, `unrecognized option to $unwind stage: ${unknown}`);
  const { path, includeArrayIndex: indexName, preserveNullAndEmptyArrays: preserve = false } = spec as Doc;
  if (path === undefined) return fail(28812, 'no path specified to $unwind stage');
  if (typeof path !== 'string')
    return fail(28808, `expected a string as the path for $unwind stage, got ${typeName(path)}`);
  if (!path.startsWith('$')) return fail(28818, `path option to $unwind stage should be prefixed with a '$': ${path}`);
  if (typeof preserve !== 'boolean')
    return fail(
      28809,
      `expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got ${typeName(preserve)}`,
    );
  if (indexName !== undefined && (typeof indexName !== 'string' || indexName === '')) {
    return fail(28810, 'expected a non-empty string for the includeArrayIndex option to $unwind stage');
  }
  if (typeof indexName === 'string' && indexName.startsWith('$')) {
    return fail(28822, `includeArrayIndex option to $unwind stage should not be prefixed with a '$': ${indexName}`);
  }
  const parts = checkedParts(path.slice(1));
  const indexParts = indexName === undefined ? undefined : checkedParts(indexName);
  const withIndex = (doc: Doc, index: Long | null): Doc =>
    indexParts === undefined ? doc : replaceAt(doc, indexParts, index);
  return function* (source) {
    for (const doc of source) {
      if (doc === PAUSE) {
        yield PAUSE;
        continue;
      }
      const value = parts.reduce<unknown>((inner, part) => getField(asDoc(inner) ?? {}, part), doc);
      if (Array.isArray(value) && value.length > 0) {
        for (const [i, element] of value.entries()) yield withIndex(replaceAt(doc, parts, element), Long.fromNumber(i));
      } else if (Array.isArray(value)) {
        if (preserve) yield withIndex(replaceAt(doc, parts, undefined), null);
      } else if (preserve || (value !== undefined && value !== null)) yield withIndex(doc, null);
    }
  };
};

/** Copies the document with another value at a path through nested documents; undefined removes the field. */
export function replaceAt(doc: Doc, parts: readonly string[], value: unknown): Doc {
  const [name, ...rest] = parts as [string, ...string[]];
  const copy = { ...doc };
  const next = rest.length === 0 ? value : replaceAt(asDoc(getField(doc, name)) ?? {}, rest, value);
  if (next === undefined) delete copy[name];
  else setField(copy, name, next);
  return copy;
}
