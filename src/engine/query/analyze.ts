import { flatten, type Leaf, type Node, parseFilter } from './filter-parse.ts';
import { isNaNValue, isNumber } from './numbers.ts';
import { isIndex, splitPath } from './path.ts';
import { type Doc, RANK, typeRank } from './types.ts';

export { impliesFilter } from './filter-implies.ts';

/**
 * What a filter says about a path. Each bound holds by itself: a document that matches has a value of the path that lies in the bound, so
 * that an index with that path holds an entry there (for an array value: under its first element, or as itself within another
 * array). Of an index that is multikey on the path, use one bound only (two may be met by two
 * different elements), and do not join bounds of two paths that share an array. `exists` says no more than that missing never matches.
 */
export type Bound =
  | { op: 'eq' | 'gt' | 'gte' | 'lt' | 'lte'; value: unknown }
  | { op: 'in'; value: unknown[] }
  | { op: 'exists'; value: true };

/** The bounds of a filter's conjunctive part by path, for planning only: the filter is always checked again. */
export function analyzeFilter(filter: Doc): Map<string, Bound[]> {
  const bounds = new Map<string, Bound[]>();
  collect(parseFilter(filter), '', bounds);
  return bounds;
}

/**
 * The same for a filter with an `$or` among its conjuncts: the bounds of each branch together with the conjuncts around it.
 * A document that matches lies within one of the branches at least. Undefined without an `$or`.
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
    // Within $elemMatch a numeric name means a place in a nested array, which an index does not reach.
    if (prefix !== '' && isIndex(splitPath(node.path)[0] as string)) return;
    const path = prefix + node.path;
    for (const bound of leafBounds(node.leaf, splitPath(path).some(isIndex))) {
      const known = bounds.get(path);
      if (known === undefined) bounds.set(path, [bound]);
      else known.push(bound);
    }
    if (node.leaf.op === 'elemObject') collect(node.leaf.filter, `${path}.`, bounds);
    if (node.leaf.op === 'elemValue') {
      for (const test of node.leaf.tests) {
        if (test.kind === 'leaf') collect({ ...test, path: node.path }, prefix, bounds);
      }
    }
  }
}

const NOTHING: Bound = { op: 'in', value: [] };
const EXISTS: Bound = { op: 'exists', value: true };

/** A numeric path matches null also through documents of an array that an index takes by position: no bound then. */
function leafBounds(leaf: Leaf, numericPath: boolean): Bound[] {
  switch (leaf.op) {
    case 'eq':
      if (leaf.value === null && numericPath) return [];
      return [{ op: 'eq', value: leaf.value }];
    case 'in':
      if (leaf.regexes.length > 0 || (numericPath && leaf.values.includes(null))) return [];
      return [leaf.values.length === 1 ? { op: 'eq', value: leaf.values[0] } : { op: 'in', value: leaf.values }];
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return rangeBounds(leaf.op, leaf.value, numericPath);
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
