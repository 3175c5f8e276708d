import { CommandError } from '../errors.ts';
import { analyzeBranches, analyzeFilter, type Bound, impliesFilter } from '../query/match.ts';
import { type Doc, isDoc } from '../query/types.ts';
import { hasArrays, type IndexBounds, type IndexScan, indexBounds } from './bounds.ts';
import type { Collection, Index } from './catalog.ts';
import type { Database } from './database.ts';
import { isExact } from './exact.ts';
import { limitedBy } from './limited-by.ts';

export type Access = IndexScan | { kind: 'COLLSCAN'; reverse: boolean } | { kind: 'OR'; branches: IndexScan[] };

export interface Plan {
  access: Access;
  /** Whether the plan returns documents in the requested order (true when none is requested). */
  sorted: boolean;
  /** Whether every document that the plan reads matches, so that the filter need not be checked again. */
  exact: boolean;
}

/** A sort specification: fields and directions, the most significant first. */
export type SortField = [path: string, direction: 1 | -1];

const MAX_MERGED_RANGES = 64;
/**
 * When several indexes have equal scores, this many keys of each are counted at first. If all have more, more are
 * counted.
 */
const SMALLEST_SAMPLE = 200;
/** The most keys that are counted of an index, which takes a millisecond. */
const LARGEST_SAMPLE = 20_000;

/**
 * Chooses the access path for a filter. An index is ranked by the number of fields it binds by equality, then by range,
 * then by whether it provides the sort order. Without a useful index it takes a union of indexes for `$or`, otherwise a
 * collection scan. `hint` is an index name, its key pattern, `{$natural: ±1}`, or an index object (which may be
 * hidden); error 2 when no index matches it. Unless the plan is `exact`, the filter must be checked on each document.
 */
export function plan(database: Database, collection: Collection, filter: Doc, sort: SortField[], hint: unknown): Plan {
  const asked = naturalOrder(sort);
  const natural = asked ?? naturalOrder(isDoc(hint) ? fieldsOf(hint) : []);
  if (natural) {
    const sorted = asked !== undefined || sort.length === 0;
    return { access: { kind: 'COLLSCAN', reverse: natural === -1 }, sorted, exact: false };
  }
  const bounds = analyzeFilter(filter);
  if (hint !== undefined) {
    const index = findHinted(collection, hint);
    if (index.partial && !impliesFilter(filter, index.partial.filter)) throw badHint();
    return chosen(scanOf(index, bounds, sort), filter);
  }
  const best = bestIndex(database, collection, filter, bounds, sort);
  if (!best || best.access.bounds.points === 0) {
    const branches = orBranches(database, collection, filter);
    if (branches) return { access: { kind: 'OR', branches }, sorted: sort.length === 0, exact: false };
  }
  if (best) return chosen(best, filter);
  return { access: { kind: 'COLLSCAN', reverse: false }, sorted: sort.length === 0, exact: false };
}

function chosen({ access, sorted }: Candidate, filter: Doc): Plan {
  return { access, sorted, exact: isExact(access, filter) };
}

function bestIndex(
  database: Database,
  collection: Collection,
  filter: Doc,
  bounds: Map<string, Bound[]>,
  sort: SortField[],
): Candidate | undefined {
  const byId = scanOf(collection.indexes[0] as Index, bounds, sort);
  // The filter has one `_id`, or only a list of `_id`s. No other index can be better.
  const { constants, points } = byId.access.bounds;
  if (constants === 1 || (points === 1 && Object.keys(filter).length === 1)) return byId;
  const candidates = collection.indexes
    .filter((index) => usable(index, filter, bounds))
    .map((index) => scanOf(index, bounds, sort))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const [best] = candidates;
  const equals = candidates.filter(({ score }) => score === best?.score);
  if (equals.length < 2) return best;
  return fewestKeys(database, equals);
}

/**
 * Of candidates with the same score, chooses the one whose scan reads the fewest keys. If all read very many, a partial
 * index is preferred.
 */
function fewestKeys(database: Database, candidates: readonly Candidate[]): Candidate | undefined {
  for (let sample = SMALLEST_SAMPLE; ; sample *= 10) {
    const [fewest] = candidates
      .map((candidate) => ({ candidate, keys: estimate(database, candidate.access, sample) }))
      .sort((a, b) => a.keys - b.keys || isWhole(a.candidate) - isWhole(b.candidate));
    if (!fewest || fewest.keys < sample || sample >= LARGEST_SAMPLE) return fewest?.candidate;
  }
}

const isWhole = ({ access }: Candidate): number => (access.index.partial ? 0 : 1);

const KEYS = `SELECT count(*) AS n FROM (SELECT 1 FROM idx WHERE i = ? AND key >= ? AND key < ? ${limitedBy()})`;

/** Counts the keys that a scan would read, up to `sample`. */
function estimate(database: Database, { index, bounds }: IndexScan, sample: number): number {
  const count = database.prepare(KEYS);
  let keys = 0;
  for (const { low, high } of bounds.ranges) {
    keys += Number(count.get(index.id, low, high, sample - keys)?.n);
    if (keys >= sample) break;
  }
  return keys;
}

interface Candidate {
  access: IndexScan;
  sorted: boolean;
  score: number;
}

function scanOf(index: Index, filterBounds: Map<string, Bound[]>, sort: SortField[]): Candidate {
  const bounds = indexBounds(index, filterBounds);
  const order = sort.length > 0 ? sortBy(index, bounds, sort) : undefined;
  const exact = index.unique && bounds.points === index.fields.length ? 100 : 0;
  const score = exact + 4 * bounds.points + 1.5 * bounds.rangeEnds + (order ? 3 : 0);
  return {
    access: { kind: 'IXSCAN', index, bounds, reverse: order?.reverse ?? false, merge: order?.merge ?? false },
    sorted: sort.length === 0 || order !== undefined,
    score,
  };
}

/**
 * Whether and how an index provides a sort order. Fields bound to one value are skipped; the others must follow the
 * index, either all in its direction or all in the opposite one. None of them may have arrays: of a document with an
 * array, a sort compares one element, which need not be the one that the scan finds first.
 */
function sortBy(
  index: Index,
  bounds: IndexBounds,
  sort: SortField[],
): { reverse: boolean; merge: boolean } | undefined {
  const arrays = new Set(index.fields.filter((_, place) => hasArrays(index, place)).map(([path]) => path));
  if (sort.some(([path]) => arrays.has(path))) return undefined;
  const attempt = (bound: number): { reverse: boolean } | undefined => {
    const fixed = new Set(index.fields.slice(0, bound).map(([path]) => path));
    let at = bound;
    let reverse: boolean | undefined;
    for (const [path, direction] of sort) {
      if (fixed.has(path)) continue;
      const field = index.fields[at++];
      if (!field || field[0] !== path) return undefined;
      const backwards = field[1] !== direction;
      if (reverse !== undefined && reverse !== backwards) return undefined;
      reverse = backwards;
    }
    return { reverse: reverse ?? false };
  };
  const direct = attempt(bounds.constants);
  if (direct) return { ...direct, merge: false };
  if (bounds.points === bounds.constants || bounds.ranges.length > MAX_MERGED_RANGES) return undefined;
  const several = index.fields.slice(bounds.constants, bounds.points).map(([path]) => path);
  if (sort.some(([path]) => several.includes(path))) return undefined;
  const merged = attempt(bounds.points);
  return merged && { ...merged, merge: true };
}

/**
 * Sparse and partial indexes omit documents, so they are used only for filters that the omitted documents cannot match.
 */
function usable(index: Index, filter: Doc, bounds: Map<string, Bound[]>): boolean {
  if (index.hidden) return false;
  if (index.partial && !impliesFilter(filter, index.partial.filter)) return false;
  return !index.sparse || index.fields.some(([path]) => (bounds.get(path) ?? []).some(excludesMissing));
}

/**
 * Plans an index scan for each branch of the filter's `$or`. Undefined when a branch has no usable index, because then
 * the whole collection has to be read anyway.
 */
function orBranches(database: Database, collection: Collection, filter: Doc): IndexScan[] | undefined {
  const scans = analyzeBranches(filter)?.map((bounds) => bestIndex(database, collection, filter, bounds, [])?.access);
  return scans?.every((scan) => scan !== undefined) ? scans : undefined;
}

function findHinted(collection: Collection, hint: unknown): Index {
  if (collection.indexes.includes(hint as Index)) return hint as Index;
  const wanted = isDoc(hint) ? JSON.stringify(fieldsOf(hint)) : undefined;
  const index = collection.indexes.find((each) =>
    typeof hint === 'string' ? each.name === hint : JSON.stringify(each.fields) === wanted,
  );
  if (index && !index.hidden) return index;
  throw badHint();
}

function badHint(): CommandError {
  return new CommandError(
    'BadValue',
    'error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing index',
  );
}

function fieldsOf(spec: Doc): SortField[] {
  return Object.entries(spec).map(([path, direction]) => [path, Number(direction) < 0 ? -1 : 1]);
}

/** @throws CommandError 2 for `$natural` with other fields */
function naturalOrder(sort: SortField[]): 1 | -1 | undefined {
  const natural = sort.find(([path]) => path === '$natural');
  if (natural && sort.length > 1) throw new CommandError('BadValue', "Cannot include '$natural' in compound sort");
  return natural?.[1];
}

/** Whether a document without the field cannot satisfy the bound. */
function excludesMissing({ op, value }: Bound): boolean {
  return op === 'in' ? !value.includes(null) : value !== null;
}
