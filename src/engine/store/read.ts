import { compileFilter } from '../query/match.ts';
import { drained, mapped, PAUSE, Pace, type Pause, type Pausing, type Steps, withoutPauses } from '../query/pause.ts';
import { compileSortKey } from '../query/sort.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument } from '../wire/bson.ts';
import type { KeyRange } from './bounds.ts';
import type { Collection, Index } from './catalog.ts';
import type { Database } from './database.ts';
import type { StoredDocument } from './documents.ts';
import { hasOneKeyEach } from './exact.ts';
import { type Plan, plan, type SortField } from './planner.ts';
import { RidSorter } from './rid-sorter.ts';
import { type ReadStats, scan } from './scan.ts';
import type { Store } from './store.ts';

export interface Query {
  filter: Doc;
  sort: Doc;
  skip: number;
  /** 0 means no limit. */
  limit: number;
  hint: unknown;
  /** The values of the command's `let`. */
  variables?: Doc;
  /** False if a sort must keep its documents in memory. */
  allowDiskUse?: boolean;
}

/** A matching document; `doc` is decoded on first access. */
export interface Match extends StoredDocument {
  readonly doc: Doc;
}

export interface PreparedQuery {
  plan: Plan;
  /** Runs the query from the start and adds its work to `stats`. */
  run(stats: ReadStats): Generator<Match | Pause>;
  /** Like `run` without skip and limit, but yields at most `CANDIDATES` documents if they must be sorted. */
  candidates(stats: ReadStats): Generator<Match | Pause>;
  /** Whether the current version of a candidate matches. */
  matches(doc: Doc): boolean;
  /** Whether the sort would put two versions of a document at the same place. */
  isSamePlace(a: Doc, b: Doc): boolean;
}

/**
 * Number of documents among which a sorted write of a single document chooses, because others may have changed the
 * first ones meanwhile.
 */
const CANDIDATES = 64;

/**
 * Plans a query. Running it yields the matching documents in order. Documents that must be sorted are returned as they
 * were when they were read, even if they were changed since. So their order is right, and a limit returns the full
 * number.
 */
export function prepareQuery(store: Store, collection: Collection, query: Query): PreparedQuery {
  const matches = compileFilter(query.filter, query.variables);
  const sort = sortFields(query.sort);
  const keyOf = sort.length > 0 && sort[0]?.[0] !== '$natural' ? compileSortKey(query.sort) : undefined;
  const chosen = plan(store.database, collection, query.filter, sort, query.hint);
  const wanted = query.limit > 0 ? query.skip + query.limit : 0;
  const expected = chosen.sorted && chosen.exact ? wanted : 0;
  // A single loop, because `mapped` and `filtered` would slow a scan down by a third.
  const passing = function* (stats: ReadStats): Generator<Match | Pause> {
    const pace = new Pace();
    for (const stored of scan(store.database, collection, chosen.access, stats, expected)) {
      if (stored === PAUSE) {
        yield PAUSE;
        continue;
      }
      const match = new LazyMatch(stored.rid, stored.bytes);
      if (chosen.exact || matches(match.doc)) yield match;
      else if (pace.isDue()) yield PAUSE;
    }
  };
  const ordered = function* (stats: ReadStats, keep: number): Generator<Match | Pause> {
    if (chosen.sorted || !keyOf) {
      yield* passing(stats);
      return;
    }
    const sorter = new RidSorter(keep > 0 ? keep : Number.POSITIVE_INFINITY, query.allowDiskUse !== false);
    const pace = new Pace();
    try {
      for (const match of passing(stats)) {
        if (match === PAUSE) {
          yield PAUSE;
          continue;
        }
        sorter.add({ rid: match.rid, key: keyOf(match.doc), bytes: match.bytes });
        if (pace.isDue()) yield PAUSE;
        if (sorter.isFull) yield* sorter.spill();
      }
      yield* mapped(sorter.entries(), ({ rid, bytes }) => new LazyMatch(rid, bytes as Uint8Array));
    } finally {
      sorter.close();
    }
  };
  return {
    plan: chosen,
    run: (stats) => skipAndLimit(ordered(stats, wanted), query.skip, query.limit),
    candidates: (stats) => ordered(stats, CANDIDATES),
    matches,
    isSamePlace: (a, b) => chosen.sorted || !keyOf || Buffer.compare(keyOf(a), keyOf(b)) === 0,
  };
}

/** Whether the keys of a plan's index scan are counted instead of its documents. */
export function countsKeys({ access, exact }: Plan): boolean {
  return exact && access.kind === 'IXSCAN' && hasOneKeyEach(access);
}

/** Counts the matching documents. Counts index keys alone where the index scan is exact. */
export function* countMatches(store: Store, collection: Collection, query: Query, deadline: number): Steps<number> {
  const within = (n: number): number => {
    const left = Math.max(0, n - query.skip);
    return query.limit > 0 ? Math.min(left, query.limit) : left;
  };
  if (Object.keys(query.filter).length === 0 && query.hint === undefined)
    return within(store.documents.count(collection));
  store.database.past?.all(collection);
  const prepared = prepareQuery(store, collection, { ...query, sort: {} });
  const { access } = prepared.plan;
  if (access.kind === 'IXSCAN' && countsKeys(prepared.plan)) {
    const most = query.limit > 0 ? query.skip + query.limit : Number.POSITIVE_INFINITY;
    const keys = yield* countKeys(store.database, access.index, access.bounds.ranges, most);
    if (keys !== undefined) return within(keys);
  }
  let n = 0;
  yield* drained(prepared.run({ ...newReadStats(), deadline }), () => {
    n++;
  });
  return n;
}

const NEXT_KEYS =
  'SELECT key, rid FROM idx WHERE i = ?1 AND key < ?2 AND (key, rid) > (?3, ?4) ORDER BY key, rid LIMIT 1 OFFSET ?5';
const LAST_KEYS = 'SELECT count(*) AS n FROM idx WHERE i = ?1 AND key < ?2 AND (key, rid) > (?3, ?4)';
/** Number of keys that are counted in one step. */
const COUNTED_KEYS = 5000;

/** Counts the keys in ranges of an index up to `most`; undefined if another field of it gets arrays meanwhile. */
function* countKeys(
  database: Database,
  index: Index,
  ranges: readonly KeyRange[],
  most: number,
): Steps<number | undefined> {
  const next = database.prepare(NEXT_KEYS);
  const { arrays } = index;
  let counted = 0;
  for (const { low, high } of ranges) {
    let [key, rid] = [low, -1];
    for (;;) {
      if (counted >= most) return counted;
      const row = next.get(index.id, high, key, rid, COUNTED_KEYS - 1);
      if (!row) break;
      counted += COUNTED_KEYS;
      [key, rid] = [row.key as Uint8Array, row.rid as number];
      yield PAUSE;
      if (index.arrays !== arrays) return undefined;
    }
    counted += Number(database.prepare(LAST_KEYS).get(index.id, high, key, rid)?.n);
  }
  return counted;
}

/** Finds the first document of a query, without a pause. */
export function firstMatch(store: Store, collection: Collection, query: Query, deadline: number): Match | undefined {
  const [first] = withoutPauses(prepareQuery(store, collection, query).run({ ...newReadStats(), deadline }));
  return first;
}

/**
 * Collects the row ids of the matching documents, for a write that pauses between them. Each is returned once, even if
 * another write moves the document in an index during the search.
 */
export function* rowsToWrite(store: Store, collection: Collection, query: Query, deadline: number): Steps<number[]> {
  const rids = new Set<number>();
  yield* drained(prepareQuery(store, collection, query).run({ ...newReadStats(), deadline }), ({ rid }) => {
    rids.add(rid);
  });
  return [...rids];
}

/**
 * Finds the document for a write of a single one, as it is when the search returns. A document that others have changed
 * meanwhile so that it no longer matches is skipped. If a search skips documents and finds no other, it is repeated.
 * With a sort, a document that still has its place in the order is preferred to one that does not.
 */
export function* rowToWrite(
  store: Store,
  collection: Collection,
  query: Query,
  deadline: number,
): Steps<Match | undefined> {
  for (;;) {
    const { candidates, matches, isSamePlace } = prepareQuery(store, collection, query);
    let { last } = store.oplog;
    let [mayDiffer, isLost] = [false, false];
    let moved: Match | undefined;
    for (const match of candidates({ ...newReadStats(), deadline })) {
      if (match === PAUSE) {
        yield PAUSE;
        if (store.oplog.last === last) continue;
        ({ last } = store.oplog);
        mayDiffer = true;
        moved = undefined;
        continue;
      }
      if (!mayDiffer) return match;
      const present = readMatch(store, match.rid);
      const isMatch = present !== undefined && matches(present.doc);
      if (isMatch && isSamePlace(present.doc, match.doc)) return present;
      if (isMatch) moved ??= present;
      isLost = true;
    }
    if (moved || !isLost) return moved;
  }
}

/** Reads the document of a row; undefined if it is gone. */
export function readMatch(store: Store, rid: number): Match | undefined {
  const bytes = store.documents.read(rid);
  return bytes && new LazyMatch(rid, bytes);
}

/** Statistics for a read without a deadline whose counts are not used. */
export function newReadStats(): ReadStats {
  return { keys: 0, docs: 0, deadline: Number.POSITIVE_INFINITY };
}

function sortFields(sort: Doc): SortField[] {
  return Object.entries(sort).map(([path, direction]) => [path, Number(direction) < 0 ? -1 : 1]);
}

class LazyMatch implements Match {
  readonly rid: number;
  readonly bytes: Uint8Array;
  #doc: Doc | undefined;

  constructor(rid: number, bytes: Uint8Array) {
    this.rid = rid;
    this.bytes = bytes;
  }

  get doc(): Doc {
    this.#doc ??= decodeDocument(this.bytes);
    return this.#doc;
  }
}

function* skipAndLimit(matches: Pausing<Match>, skip: number, limit: number): Generator<Match | Pause> {
  const pace = new Pace();
  let seen = 0;
  for (const match of matches) {
    if (match !== PAUSE && seen++ < skip) {
      if (pace.isDue()) yield PAUSE;
      continue;
    }
    yield match;
    if (limit > 0 && seen === skip + limit) return;
  }
}
