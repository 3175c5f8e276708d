import { compareValues, valuesEqual } from './compare.ts';
import { type Comparison, flatten, type Leaf, type Node, parseFilter, type RegexLeaf } from './filter-parse.ts';
import { leafTest } from './filter-tests.ts';
import { isNaNValue } from './numbers.ts';
import { type Doc, RANK, typeRank } from './types.ts';

/**
 * Whether every document that matches `query` also matches `partial`, so that a partial index contains all of them. May
 * return false for filters that do imply `partial`; as in MongoDB, an equality does not imply a `$type`.
 */
export function impliesFilter(query: Doc, partial: Doc): boolean {
  const known = answers.get(query) ?? new WeakMap<Doc, boolean>();
  const answer = known.get(partial) ?? implies(flatten(parseFilter(query)), parseFilter(partial));
  answers.set(query, known.set(partial, answer));
  return answer;
}

/** Cached results by query and partial filter. The planner repeats the same question for each branch of an `$or`. */
const answers = new WeakMap<Doc, WeakMap<Doc, boolean>>();

function implies(query: Node[], partial: Node): boolean {
  if (query.some((node) => sameNode(node, partial))) return true;
  const branch = query.find((node) => node.kind === 'or');
  if (branch?.kind === 'or') {
    const rest = query.filter((node) => node !== branch);
    if (branch.children.every((child) => implies([...rest, ...flatten(child)], partial))) return true;
  }
  if (partial.kind === 'and') return partial.children.every((child) => implies(query, child));
  if (partial.kind === 'or') return partial.children.some((child) => implies(query, child));
  if (partial.kind !== 'leaf') return false;
  return query.some(
    (node) => node.kind === 'leaf' && node.path === partial.path && leafImplies(node.leaf, partial.leaf),
  );
}

/**
 * Whether every value that satisfies `query` satisfies `partial`. If so, every matching document of `query` matches
 * `partial`, because both leaves test the values of the same path. May return false for leaves that do imply `partial`.
 */
function leafImplies(query: Leaf, partial: Leaf): boolean {
  switch (partial.op) {
    case 'exists':
      return excludesMissing(query);
    case 'eq':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
    case 'in': {
      const test = leafTest(partial);
      const holds = (value: unknown) => test(value) && (value !== null || test(undefined));
      if (query.op === 'eq') return holds(query.value);
      if (query.op === 'in') return query.regexes.length === 0 && query.values.every(holds);
      return isRange(query.op) && isRange(partial.op) && rangeImplies(query as RangeLeaf, partial as RangeLeaf);
    }
    default:
      return false;
  }
}

interface RangeLeaf {
  op: Exclude<Comparison, 'eq'>;
  value: unknown;
}

function isRange(op: string): boolean {
  return op === 'gt' || op === 'gte' || op === 'lt' || op === 'lte';
}

const UNBOUNDED: readonly number[] = [RANK.minKey, RANK.maxKey, RANK.null];

function rangeImplies(query: RangeLeaf, partial: RangeLeaf): boolean {
  const rank = typeRank(query.value);
  if (rank !== typeRank(partial.value) || UNBOUNDED.includes(rank) || query.op[0] !== partial.op[0]) return false;
  if (isNaNValue(query.value) || isNaNValue(partial.value)) return false;
  const order = compareValues(query.value, partial.value) * (query.op[0] === 'g' ? 1 : -1);
  return order > 0 || (order === 0 && (query.op === partial.op || query.op.length === 2));
}

function excludesMissing(leaf: Leaf): boolean {
  switch (leaf.op) {
    case 'eq':
      return leaf.value !== null;
    case 'in':
      return !leaf.values.includes(null);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return !UNBOUNDED.includes(typeRank(leaf.value));
    default:
      return true;
  }
}

function sameNode(a: Node, b: Node): boolean {
  if (a.kind === 'leaf') return b.kind === 'leaf' && a.path === b.path && sameLeaf(a.leaf, b.leaf);
  if (a.kind === 'not') return b.kind === 'not' && sameNode(a.child, b.child);
  if (a.kind !== 'and' && a.kind !== 'or') return false;
  return b.kind === a.kind && sameList(a.children, b.children, sameNode);
}

function sameLeaf(a: Leaf, b: Leaf): boolean {
  if (a.op !== b.op) return false;
  switch (a.op) {
    case 'in': {
      const other = b as typeof a;
      return sameList(a.values, other.values, valuesEqual) && sameList(a.regexes, other.regexes, sameRegex);
    }
    case 'regex':
      return sameRegex(a, b as RegexLeaf);
    case 'exists':
      return true;
    case 'type': {
      const other = b as typeof a;
      return a.number === other.number && sameList([...a.types], [...other.types], Object.is);
    }
    case 'mod': {
      const other = b as typeof a;
      return a.divisor === other.divisor && a.remainder === other.remainder;
    }
    case 'size':
      return a.size === (b as typeof a).size;
    case 'elemObject':
      return sameNode(a.filter, (b as typeof a).filter);
    case 'elemValue':
      return sameList(a.tests, (b as typeof a).tests, sameNode);
    case 'eq':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return valuesEqual(a.value, (b as typeof a).value);
    default:
      return sameList(a.positions, (b as typeof a).positions, Object.is);
  }
}

function sameRegex(a: RegexLeaf, b: RegexLeaf): boolean {
  return a.pattern === b.pattern && a.options === b.options;
}

function sameList<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean): boolean {
  return a.length === b.length && a.every((value, i) => same(value, b[i] as T));
}
