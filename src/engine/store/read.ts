import { compileFilter } from '../query/match.ts';
import { drained, PAUSE, PAUSE_ITEMS, type Pause, type Pausing, type Steps, withoutPauses } from '../query/pause.ts';
import { compileSortKey } from '../query/sort.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument } from '../wire/bson.ts';
import type { KeyRange } from './bounds.ts';
import type { Collection, Index } from './catalog.ts';
import type { Database } from './database.ts';
import type { StoredDocument } from './documents.ts';
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
  /** False if a sort must keep its keys in memory. */
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
}

/** Plans a query. Running it yields the matching documents in order. At most sort keys are kept in memory. */
export function prepareQuery(store: Store, collection: Collection, query: Query): PreparedQuery {
  const matches = compileFilter(query.filter, query.variables);
  const sort = sortFields(query.sort);
  const keyOf = sort.length > 0 && sort[0]?.[0] !== '$natural' ? compileSortKey(query.sort) : undefined;
  const chosen = plan(store.database, collection, query.filter, sort, query.hint);
  const wanted = query.limit > 0 ? query.skip + query.limit : 0;
  const expected = chosen.sorted && chosen.exact ? wanted : 0;
  // One generator instead of `mapped` and `filtered`, which cost a scan a third of its speed.
  const passing = function* (stats: ReadStats): Generator<Match | Pause> {
    let refused = 0;
    for (const stored of scan(store.database, collection, chosen.access, stats, expected)) {
      if (stored === PAUSE) {
        yield PAUSE;
        continue;
      }
      const match = new LazyMatch(stored.rid, stored.bytes);
      if (chosen.exact || matches(match.doc)) yield match;
      else if (++refused % PAUSE_ITEMS === 0) yield PAUSE;
    }
  };
  const ordered = function* (stats: ReadStats): Generator<Match | Pause> {
    if (chosen.sorted || !keyOf) {
      yield* passing(stats);
      return;
    }
    const sorter = new RidSorter(wanted > 0 ? wanted : Number.POSITIVE_INFINITY, query.allowDiskUse !== false);
    try {
      for (const match of passing(stats)) {
        if (match === PAUSE) yield PAUSE;
        else sorter.add(match.rid, keyOf(match.doc));
        if (stats.docs % PAUSE_ITEMS === 0) yield PAUSE;
        if (sorter.isFull) yield* sorter.spill();
      }
      for (const rid of sorter.sorted()) {
        const bytes = rid === PAUSE ? undefined : store.documents.read(rid);
        const match = bytes && new LazyMatch(rid as number, bytes);
        if (match && matches(match.doc)) yield match;
        else yield PAUSE;
      }
    } finally {
      sorter.close();
    }
  };
  return { plan: chosen, run: (stats) => skipAndLimit(ordered(stats), query.skip, query.limit) };
}

/** Counts the matching documents, from the index alone where it is exact. */
export function* countMatches(store: Store, collection: Collection, query: Query, deadline: number): Steps<number> {
  const within = (n: number): number => {
    const left = Math.max(0, n - query.skip);
    return query.limit > 0 ? Math.min(left, query.limit) : left;
  };
  if (Object.keys(query.filter).length === 0 && query.hint === undefined)
    return within(store.documents.count(collection));
  store.database.past?.all(collection);
  const prepared = prepareQuery(store, collection, { ...query, sort: {} });
  const { access, exact } = prepared.plan;
  // A multikey index has several keys for some documents, so its keys cannot be counted.
  if (exact && access.kind === 'IXSCAN' && !access.index.multikey) {
    let keys = 0;
    for (const range of access.bounds.ranges) keys += yield* countKeys(store.database, access.index, range);
    return within(keys);
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

/** The number of keys in a range of an index. */
function* countKeys(database: Database, index: Index, { low, high }: KeyRange): Steps<number> {
  const next = database.prepare(NEXT_KEYS);
  let [key, rid, counted] = [low, -1, 0];
  for (;;) {
    const row = next.get(index.id, high, key, rid, COUNTED_KEYS - 1);
    if (!row) return counted + Number(database.prepare(LAST_KEYS).get(index.id, high, key, rid)?.n);
    counted += COUNTED_KEYS;
    [key, rid] = [row.key as Uint8Array, row.rid as number];
    yield PAUSE;
  }
}

/**
 * The documents to be written, in order. Their row ids are collected before the first write, so each document is
 * written once even if its index position changes.
 */
export function* matchesToWrite(
  store: Store,
  collection: Collection,
  query: Query,
  deadline: number,
): Generator<Match> {
  const matches = withoutPauses(prepareQuery(store, collection, query).run({ ...newReadStats(), deadline }));
  if (query.limit === 1) {
    yield* matches;
    return;
  }
  for (const rid of Array.from(matches, (match) => match.rid)) {
    const match = readMatch(store, rid);
    if (match) yield match;
  }
}

/** The row ids of the documents that match, for a write that pauses between them. */
export function* rowsToWrite(store: Store, collection: Collection, query: Query, deadline: number): Steps<number[]> {
  const rids: number[] = [];
  yield* drained(prepareQuery(store, collection, query).run({ ...newReadStats(), deadline }), ({ rid }) => {
    rids.push(rid);
  });
  return rids;
}

/** The document of a row; undefined if it is gone. */
export function readMatch(store: Store, rid: number): Match | undefined {
  const bytes = store.documents.read(rid);
  return bytes && new LazyMatch(rid, bytes);
}

/** Statistics that are not evaluated, without a deadline. */
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
  let seen = 0;
  for (const match of matches) {
    if (match !== PAUSE && seen++ < skip) {
      if (seen % PAUSE_ITEMS === 0) yield PAUSE;
      continue;
    }
    yield match;
    if (limit > 0 && seen === skip + limit) return;
  }
}
