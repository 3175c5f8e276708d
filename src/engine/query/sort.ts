import { CommandError } from '../errors.ts';
import { compareBytes } from './compare.ts';
import { describe } from './describe.ts';
import { compileIndex, type Direction } from './keys.ts';
import { isNumber, toDouble } from './numbers.ts';
import { splitPath } from './path.ts';
import { type Doc, isDoc } from './types.ts';

const MAX_FIELDS = 32;

/**
 * Compiles a sort to a function that returns the sort key of a document. Comparing keys bytewise gives the order. As in
 * an index, an array has a key for each element; an ascending sort uses the smallest, a descending one the largest. An
 * empty array sorts below null, and missing counts as null.
 * @throws CommandError 15974, 15975 and others for an invalid specification; the result throws BadValue for parallel
 *   arrays.
 */
export function compileSortKey(spec: Doc): (doc: Doc) => Uint8Array {
  const entriesOf = compileIndex(Object.keys(spec).map((path) => [checkedPath(path), direction(path, spec[path])]));
  if (Object.keys(spec).length > MAX_FIELDS) {
    throw new CommandError('BadValue', `too many compound keys: a sort has ${MAX_FIELDS} fields at most`);
  }
  return (doc) => {
    try {
      return entriesOf(doc).keys[0] as Uint8Array;
    } catch (error) {
      if (error instanceof CommandError && error.codeName === 'CannotIndexParallelArrays') {
        throw new CommandError('BadValue', 'cannot sort with keys that are parallel arrays');
      }
      throw error;
    }
  };
}

/** Compiles a sort to a comparator with the order of `compileSortKey`. The key of each document is computed once. */
export function compileSort(spec: Doc): (a: Doc, b: Doc) => number {
  const keyOf = compileSortKey(spec);
  const keys = new WeakMap<Doc, Uint8Array>();
  const cached = (doc: Doc): Uint8Array => {
    const known = keys.get(doc);
    if (known !== undefined) return known;
    const key = keyOf(doc);
    keys.set(doc, key);
    return key;
  };
  return (a, b) => compareBytes(cached(a), cached(b));
}

function checkedPath(path: string): string {
  const parts = splitPath(path);
  if (path === '') throw new CommandError(40352, 'FieldPath cannot be constructed with empty string');
  if (parts.includes('')) throw new CommandError(15998, 'FieldPath field names may not be empty strings.');
  if (parts.some((part) => part.startsWith('$'))) {
    throw new CommandError(
      16410,
      "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    );
  }
  return path;
}

function direction(path: string, value: unknown): Direction {
  if (isDoc(value) && Object.hasOwn(value, '$meta')) {
    throw new CommandError('NotImplemented', `$meta in a sort is not supported by this server: ${path}`);
  }
  if (!isNumber(value))
    throw new CommandError(15974, `Illegal key in $sort specification: ${path}: ${describe(value)}`);
  const sign = toDouble(value);
  if (sign !== 1 && sign !== -1) {
    throw new CommandError(15975, '$sort key ordering must be 1 (for ascending) or -1 (for descending)');
  }
  return sign;
}
