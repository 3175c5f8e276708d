import { CommandError } from '../errors.ts';
import { compileFilter } from '../query/match.ts';
import { compileSort } from '../query/sort.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument, pickFields } from '../wire/bson.ts';
import type { Collection } from './catalog.ts';
import type { StoredDocument } from './documents.ts';
import { type Plan, plan, type SortField } from './planner.ts';
import { type ReadStats, scan } from './scan.ts';
import type { Store } from './store.ts';

export interface Query {
  filter: Doc;
  sort: Doc;
  skip: number;
  /** 0: no limit. */
  limit: number;
  hint: unknown;
}

/** A matching document; `doc` decodes it when first asked. */
export interface Match extends StoredDocument {
  readonly doc: Doc;
}

/** A blocking sort may hold this many bytes of sort keys. */
const SORT_BYTES = 100 * 1024 * 1024;

export interface PreparedQuery {
  plan: Plan;
  /** Reads from the start; counts into `stats`. */
  run(stats: ReadStats): Generator<Match>;
}

/** Plans a query; running it gives the matching documents in order, holding at most the sort's keys in memory. */
export function prepareQuery(store: Store, collection: Collection, query: Query): PreparedQuery {
  const matches = compileFilter(query.filter);
  const trivial = Object.keys(query.filter).length === 0;
  const fields = sortFields(query.sort);
  const compare = fields.length > 0 && fields[0]?.[0] !== '$natural' ? compileSort(query.sort) : undefined;
  const chosen = plan(collection, query.filter, fields, query.hint);
  const passing = function* (stats: ReadStats): Generator<Match> {
    for (const { rid, bytes } of scan(store.database, collection, chosen.access, stats)) {
      const match = new LazyMatch(rid, bytes);
      if (trivial || matches(match.doc)) yield match;
    }
  };
  const ordered = function* (stats: ReadStats): Generator<Match> {
    if (chosen.sorted || !compare) {
      yield* passing(stats);
      return;
    }
    for (const rid of sortedRids(passing(stats), compare, fields, query.limit && query.skip + query.limit)) {
      const bytes = store.documents.read(rid);
      if (!bytes) continue;
      const match = new LazyMatch(rid, bytes);
      if (trivial || matches(match.doc)) yield match;
    }
  };
  return { plan: chosen, run: (stats) => cut(ordered(stats), query.skip, query.limit) };
}

/** Stats that nobody reads, without a deadline. */
export function freeStats(): ReadStats {
  return { keys: 0, docs: 0, deadline: Number.POSITIVE_INFINITY };
}

export function sortFields(sort: Doc): SortField[] {
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

/** Row ids in order; with a limit only the first `keep` are held. Error 292 when the keys exceed the bound. */
function sortedRids(
  matches: Iterable<Match>,
  compare: (a: Doc, b: Doc) => number,
  fields: SortField[],
  keep: number,
): number[] {
  const heads = new Set(fields.map(([path]) => path.split('.', 1)[0] as string));
  const order = (a: Entry, b: Entry): number => compare(a.key, b.key) || a.rid - b.rid;
  let entries: Entry[] = [];
  let bytes = 0;
  for (const { rid, bytes: document } of matches) {
    const key = pickFields(document, heads);
    bytes += key.length;
    entries.push({ rid, key: decodeDocument(key), size: key.length });
    if (keep > 0 && entries.length >= 2 * keep + 100) {
      entries = entries.sort(order).slice(0, keep);
      bytes = entries.reduce((sum, entry) => sum + entry.size, 0);
    }
    if (bytes > SORT_BYTES) {
      throw new CommandError(
        'QueryExceededMemoryLimitNoDiskUseAllowed',
        `Executor error during find command :: caused by :: Sort exceeded memory limit of ${SORT_BYTES} bytes`,
      );
    }
  }
  entries.sort(order);
  return (keep > 0 ? entries.slice(0, keep) : entries).map((entry) => entry.rid);
}

interface Entry {
  rid: number;
  key: Doc;
  size: number;
}

function* cut(matches: Iterable<Match>, skip: number, limit: number): Generator<Match> {
  let seen = 0;
  for (const match of matches) {
    if (seen++ < skip) continue;
    yield match;
    if (limit > 0 && seen === skip + limit) return;
  }
}
