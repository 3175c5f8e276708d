import { BSONRegExp } from 'bson';
import { compareBytes } from './compare.ts';
import { flatten, type Leaf, type Node, parseFilter } from './filter-parse.ts';
import { type Direction, EMPTY_ARRAY, encodeKey } from './key-encoding.ts';
import { isNaNValue, isNumber } from './numbers.ts';
import { isIndex, splitPath } from './path.ts';
import { literalPrefix } from './regex.ts';
import { type Doc, RANK, typeRank } from './types.ts';

/**
 * A condition that a filter puts on the index keys of a path. Each bound holds on its own: every matching document has,
 * in an index with that path, at least one key whose component lies in the bound's intervals. For an index that is
 * multikey on the path, use only one bound (two bounds may be satisfied by two different elements), and do not combine
 * bounds of two paths that share an array. `exists` only states that documents without the field do not match.
 */
export type Bound =
  | { op: 'eq' | 'gt' | 'gte' | 'lt' | 'lte'; value: unknown }
  | { op: 'in'; value: unknown[] }
  | { op: 'prefix'; value: string; regex: BSONRegExp }
  | { op: 'exists'; value: true };

/**
 * The bounds of the filter's conjuncts by path. For planning only: matching documents must still be checked with the
 * filter.
 */
export function analyzeFilter(filter: Doc): Map<string, Bound[]> {
  const bounds = new Map<string, Bound[]>();
  collect(parseFilter(filter), '', bounds);
  return bounds;
}

/**
 * The bounds of each branch of an `$or` among the filter's conjuncts, each combined with the other conjuncts. Every
 * matching document satisfies at least one branch. Undefined without an `$or`.
 */
export function analyzeBranches(filter: Doc): Map<string, Bound[]>[] | undefined {
  const root = parseFilter(filter);
  const conjuncts = flatten(root);
  const or = conjuncts.find((node) => node.kind === 'or');
  if (or?.kind !== 'or') return undefined;
  return or.children.map((child) => {
    const bounds = new Map<string, Bound[]>();
    for (const node of conjuncts) collect(node === or ? child : node, '', bounds);
    return bounds;
  });
}

function collect(node: Node, prefix: string, bounds: Map<string, Bound[]>): void {
  if (node.kind === 'and') {
    for (const child of node.children) collect(child, prefix, bounds);
  } else if (node.kind === 'leaf') {
    // In `$elemMatch` a numeric name is a position in a nested array, which an index does not contain.
    if (prefix !== '' && isIndex(splitPath(node.path)[0] as string)) return;
    const path = prefix + node.path;
    for (const bound of leafBounds(node.leaf, splitPath(path).some(isIndex))) {
      const known = bounds.get(path);
      if (known === undefined) bounds.set(path, [bound]);
      else known.push(bound);
    }
    if (node.leaf.op === 'elemObject') collect(node.leaf.filter, `${path}.`, bounds);
    // An array in an array, if reached by position, is indexed as one key, so there are no bounds for its elements.
    if (node.leaf.op === 'elemValue' && !isIndex(splitPath(path).at(-1) as string)) {
      for (const test of node.leaf.tests) {
        if (test.kind === 'leaf') collect({ ...test, path: node.path }, prefix, bounds);
      }
    }
  }
}

const NOTHING: Bound = { op: 'in', value: [] };
const EXISTS: Bound = { op: 'exists', value: true };

/**
 * The bounds of one condition. A condition that matches null on a path with a number (`a.0`) has none. The index may
 * take the number as a position in an array, while a document in that array lacks the field of that name, which counts
 * as null.
 */
function leafBounds(leaf: Leaf, numericPath: boolean): Bound[] {
  switch (leaf.op) {
    case 'eq':
      if (leaf.value === null && numericPath) return [];
      return [equality([leaf.value])];
    case 'in':
      if (leaf.regexes.length > 0 || (numericPath && leaf.values.includes(null))) return [];
      return [
        leaf.values.length === 1 ? equality(leaf.values) : { op: 'in', value: leaf.values.flatMap(alternatives) },
      ];
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return rangeBounds(leaf.op, leaf.value, numericPath);
    case 'regex': {
      const value = literalPrefix(leaf.pattern, leaf.options);
      return value === '' ? [EXISTS] : [{ op: 'prefix', value, regex: new BSONRegExp(leaf.pattern, leaf.options) }];
    }
    default:
      return [EXISTS];
  }
}

function rangeBounds(op: 'gt' | 'gte' | 'lt' | 'lte', value: unknown, numericPath: boolean): Bound[] {
  switch (typeRank(value)) {
    case RANK.minKey:
    case RANK.maxKey:
      return [];
    case RANK.array:
      return [EXISTS];
    case RANK.null:
      if (op === 'gt' || op === 'lt') return [NOTHING];
      return numericPath ? [] : [{ op: 'eq', value: null }];
    default:
  }
  if (isNumber(value) && isNaNValue(value)) return [op === 'gt' || op === 'lt' ? NOTHING : { op: 'eq', value }];
  return [{ op, value }];
}

function equality(values: unknown[]): Bound {
  const keys = values.flatMap(alternatives);
  return keys.length === 1 ? { op: 'eq', value: keys[0] } : { op: 'in', value: keys };
}

/**
 * The values whose index keys a document with this value may have. An array has two: the whole array (if nested in
 * another one) and its first element.
 */
function alternatives(value: unknown): unknown[] {
  if (!Array.isArray(value)) return [value];
  return [value, value.length === 0 ? EMPTY_ARRAY : value[0]];
}

/** A range of component bytes; `low` is inclusive, `high` exclusive. */
export interface Interval {
  low: Uint8Array;
  high: Uint8Array;
}

/**
 * The disjoint byte ranges, in ascending order, that a bound allows for a component of an index key. In a compound key,
 * prepend the bytes of the preceding equality components. Components are self-delimiting, so a range covers every
 * continuation.
 */
export function boundIntervals(bound: Bound, direction: Direction): Interval[] {
  const key = (value: unknown) => encodeKey([value], [direction]);
  const point = (value: unknown) => prefixRange(key(value));
  switch (bound.op) {
    case 'eq':
      return [point(bound.value)];
    case 'in':
      return disjoint(bound.value.map(point));
    case 'exists':
      return [{ low: new Uint8Array(0), high: Uint8Array.of(0xff, 0xff) }];
    case 'prefix': {
      const whole = key(bound.value);
      return disjoint([prefixRange(whole.subarray(0, whole.length - 2)), point(bound.regex)]);
    }
    default: {
      const at = key(bound.value);
      const type = prefixRange(at.subarray(0, 1));
      const upward = (bound.op === 'gt' || bound.op === 'gte') === (direction === 1);
      const inclusive = bound.op === 'gte' || bound.op === 'lte';
      const [here, after] = [at, successor(at)];
      // NaN sorts below all numbers, but `$lt` and `$lte` with a number do not match it.
      const nan =
        (bound.op === 'lt' || bound.op === 'lte') && isNumber(bound.value) && !isNaNValue(bound.value)
          ? key(Number.NaN)
          : undefined;
      if (upward) return [{ low: inclusive ? here : after, high: nan ?? type.high }];
      return [{ low: nan ? successor(nan) : type.low, high: inclusive ? after : here }];
    }
  }
}

function prefixRange(low: Uint8Array): Interval {
  return { low, high: successor(low) };
}

/**
 * The smallest byte string greater than every string that starts with `bytes`. It exists because no component consists
 * of 0xff only.
 */
function successor(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 1 && bytes[end - 1] === 0xff) end -= 1;
  const next = Uint8Array.from(bytes.subarray(0, end));
  next[end - 1] = (next[end - 1] as number) + 1;
  return next;
}

function disjoint(intervals: Interval[]): Interval[] {
  const sorted = intervals.sort((a, b) => compareBytes(a.low, b.low));
  return sorted.filter((interval, i) => i === 0 || compareBytes(interval.low, (sorted[i - 1] as Interval).low) !== 0);
}
