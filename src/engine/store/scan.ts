import type { StatementSync } from 'node:sqlite';
import { CommandError } from '../errors.ts';
import { componentEnd } from '../query/key-encoding.ts';
import { filtered, PAUSE, PAUSE_ITEMS, type Pause, type Pausing } from '../query/pause.ts';
import { mergeSorted } from '../query/sorter.ts';
import { EVERYTHING, type IndexScan, joined, type KeyRange } from './bounds.ts';
import type { Collection, Index } from './catalog.ts';
import { corruptionError, rowSum, verified } from './checksums.ts';
import type { Database } from './database.ts';
import type { StoredDocument } from './documents.ts';
import { limitedBy } from './limited-by.ts';
import type { Access } from './planner.ts';

/** The work of a read, as `explain` reports it, and its deadline (milliseconds since the epoch). */
export interface ReadStats {
  keys: number;
  docs: number;
  deadline: number;
}

const FIRST_CHUNK = 16;
const LARGEST_CHUNK = 256;
const CHUNK_BYTES = 1024 * 1024;

const FORWARD = `SELECT idx.key, idx.rid, doc.sum, doc.bson, idx.sum FROM idx LEFT JOIN doc ON doc.rid = idx.rid
  WHERE idx.i = ?1 AND idx.key < ?2 AND (idx.key, idx.rid) > (?3, ?4) ORDER BY idx.key, idx.rid ${limitedBy('?5')}`;
const BACKWARD = `SELECT idx.key, idx.rid, doc.sum, doc.bson, idx.sum FROM idx LEFT JOIN doc ON doc.rid = idx.rid
  WHERE idx.i = ?1 AND idx.key >= ?2 AND (idx.key, idx.rid) < (?3, ?4) ORDER BY idx.key DESC, idx.rid DESC ${limitedBy('?5')}`;
const POINT = `SELECT idx.key, idx.rid, doc.sum, doc.bson, idx.sum FROM idx LEFT JOIN doc ON doc.rid = idx.rid
  WHERE idx.i = ?1 AND idx.key = ?2`;
const FIRST_KEY = 'SELECT key FROM idx WHERE i = ?1 AND key >= ?2 AND key < ?3 ORDER BY key LIMIT 1';
const LAST_KEY = 'SELECT key FROM idx WHERE i = ?1 AND key >= ?2 AND key < ?3 ORDER BY key DESC LIMIT 1';
const DOCUMENTS_FORWARD = `SELECT rid, sum, bson FROM doc WHERE rid <= ?1 AND rid > ?2 ORDER BY rid ${limitedBy('?3')}`;
const DOCUMENTS_BACKWARD = `SELECT rid, sum, bson FROM doc WHERE rid >= ?1 AND rid < ?2 ORDER BY rid DESC ${limitedBy('?3')}`;

interface Keyed extends StoredDocument {
  key: Uint8Array;
}

interface Reading {
  readonly reverse: boolean;
  readonly stats: ReadStats;
  /** Number of documents that the reader expects; 0 if unknown. */
  readonly expected: number;
  /** The rows read since the index became multikey. In such an index, a document may have several keys. */
  readonly seen: Set<number>;
}

/**
 * Reads the documents of a plan, in its order and without duplicates. Reads in chunks of limited size and keeps no
 * SQLite statement open between them, so a reader may pause as long as it likes. Like MongoDB's cursors, a scan sees
 * writes that happen meanwhile.
 */
export function scan(
  database: Database,
  collection: Collection,
  access: Access,
  stats: ReadStats,
  expected: number,
): Pausing<StoredDocument> {
  switch (access.kind) {
    case 'COLLSCAN':
      return scanCollection(database, collection, access.reverse, stats, expected);
    case 'IXSCAN':
      return scanIndex(database, access, stats, expected);
    case 'OR':
      return unique(concat(access.branches.map((branch) => scanIndex(database, branch, stats, 0))));
  }
}

function scanIndex(database: Database, access: IndexScan, stats: ReadStats, expected: number): Pausing<StoredDocument> {
  const { index, bounds, reverse } = access;
  const ranges = reverse ? [...bounds.ranges].reverse() : bounds.ranges;
  const reading = { reverse, stats, expected: access.merge ? 0 : expected, seen: new Set<number>() };
  if (index.unique && bounds.points === index.fields.length && !access.merge)
    return scanPoints(database, index, ranges, reading);
  const scans = ranges.map((range) =>
    bounds.within
      ? scanWithin(database, index, range, bounds.within, reading)
      : scanRange(database, index, range, reading),
  );
  return access.merge ? merge(scans, ranges, reverse) : concat(scans);
}

/**
 * Whether this is the first key of its document that the scan reads. Rows read before the index became multikey are not
 * recorded: they had one key then, and can be read again only if they were written since.
 */
function isFirst({ multikey }: Index, seen: Set<number>, { rid }: Keyed): boolean {
  if (!multikey) return true;
  if (seen.has(rid)) return false;
  seen.add(rid);
  return true;
}

function* scanCollection(
  database: Database,
  collection: Collection,
  reverse: boolean,
  stats: ReadStats,
  expected: number,
): Generator<StoredDocument> {
  const statement = prepare(database, reverse ? DOCUMENTS_BACKWARD : DOCUMENTS_FORWARD);
  const end = reverse ? collection.firstRid : collection.lastRid;
  let at = reverse ? collection.lastRid + 1 : collection.firstRid - 1;
  for (let size = firstChunk(expected); ; size = Math.min(2 * size, LARGEST_CHUNK)) {
    checkDeadline(stats);
    database.past?.all(collection);
    const chunk: StoredDocument[] = [];
    const complete = take(statement.iterate(end, at, size), size, ([rid, sum, bson]) => {
      chunk.push({ rid: rid as number, bytes: verified(rid as number, bson as Uint8Array, sum as number) });
      return (bson as Uint8Array).length;
    });
    for (const document of chunk) {
      stats.docs++;
      yield document;
    }
    if (complete) return;
    at = (chunk.at(-1) as StoredDocument).rid;
  }
}

/** Reads ranges of a unique index whose fields are all bound: each range contains at most one key. */
function* scanPoints(
  database: Database,
  index: Index,
  ranges: KeyRange[],
  { stats, seen }: Reading,
): Generator<Keyed | Pause> {
  const statement = prepare(database, POINT);
  for (const { low, high } of ranges) {
    const { past } = database;
    past?.range(index.id, low, high);
    let row = statement.get(index.id, low) as unknown[] | undefined;
    if (row && past?.rows([row[1] as number])) row = statement.get(index.id, low) as unknown[] | undefined;
    if (!row) continue;
    stats.keys++;
    stats.docs++;
    const document = keyed(index, row);
    yield isFirst(index, seen, document) ? document : PAUSE;
  }
}

/** Verifies the checksums of an index entry and of its document, which must exist. */
function keyed(index: Index, row: unknown[]): Keyed {
  const [key, rid, sum, bson, entrySum] = row as [Uint8Array, number, number | null, Uint8Array, number];
  if (sum === null || rowSum([key], index.id, rid) !== entrySum) throw corruptionError('an index entry');
  return { key, rid, bytes: verified(rid, bson, sum) };
}

function* scanRange(
  database: Database,
  index: Index,
  range: KeyRange,
  { reverse, stats, expected, seen }: Reading,
): Generator<Keyed | Pause> {
  const statement = prepare(database, reverse ? BACKWARD : FORWARD);
  const end = reverse ? range.low : range.high;
  let key = reverse ? range.high : range.low;
  let rid = -1;
  for (let size = firstChunk(expected); ; size = Math.min(2 * size, LARGEST_CHUNK)) {
    checkDeadline(stats);
    database.past?.range(index.id, range.low, range.high);
    let chunk: Keyed[];
    let complete: boolean;
    do {
      chunk = [];
      complete = take(statement.iterate(index.id, end, key, rid, size), size, (row) => {
        const document = keyed(index, row);
        chunk.push(document);
        return document.bytes.length;
      });
    } while (database.past?.rows(chunk.map((document) => document.rid)));
    for (const document of chunk) {
      stats.keys++;
      stats.docs++;
      // A pause here, because one document may have any number of keys in a row.
      yield isFirst(index, seen, document) ? document : PAUSE;
    }
    if (complete) return;
    const last = chunk.at(-1) as Keyed;
    key = last.key;
    rid = last.rid;
  }
}

/**
 * Like `scanRange`, for a range of one field with bounds of the next field. Seeks each value of the first field and
 * reads only the keys within the bounds. A value without such keys costs one key.
 */
function* scanWithin(
  database: Database,
  index: Index,
  range: KeyRange,
  { intervals, direction }: NonNullable<IndexScan['bounds']['within']>,
  reading: Reading,
): Generator<Keyed | Pause> {
  const { reverse, stats } = reading;
  const seek = prepare(database, reverse ? LAST_KEY : FIRST_KEY);
  let { low, high } = range;
  for (let sought = 1; ; sought++) {
    checkDeadline(stats);
    if (sought % PAUSE_ITEMS === 0) yield PAUSE;
    database.past?.range(index.id, range.low, range.high);
    const [key] = (seek.get(index.id, low, high) as [Uint8Array] | undefined) ?? [];
    if (!key) return;
    stats.keys++;
    const end = componentEnd(key, range.prefix, direction);
    if (end === null) {
      yield* scanRange(database, index, { ...range, low, high }, reading);
      return;
    }
    const value = key.subarray(0, end);
    for (const interval of reverse ? intervals.toReversed() : intervals) {
      const part = { low: joined(value, interval.low), high: joined(value, interval.high), prefix: end };
      // `key` is the first of this value, so the interval is empty if it lies before that key.
      const isEmpty = reverse ? Buffer.compare(key, part.low) < 0 : Buffer.compare(key, part.high) >= 0;
      if (!isEmpty) yield* scanRange(database, index, part, reading);
    }
    if (reverse) high = value;
    else low = joined(value, EVERYTHING.high);
  }
}

/** Size of the first chunk: the number of documents that the reader expects, if known. */
function firstChunk(expected: number): number {
  return expected > 0 ? Math.min(expected, LARGEST_CHUNK) : FIRST_CHUNK;
}

function prepare(database: Database, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** Reads rows until the chunk is full. Returns true when there are no more rows. */
function take(rows: Iterable<unknown>, limit: number, add: (row: unknown[]) => number): boolean {
  let count = 0;
  let bytes = 0;
  for (const row of rows) {
    count++;
    bytes += add(row as unknown[]);
    if (bytes >= CHUNK_BYTES) return false;
  }
  return count < limit;
}

/** Merges the documents of several ranges by the part of the key after each range's prefix. */
function merge(scans: Generator<Keyed | Pause>[], ranges: KeyRange[], reverse: boolean): Generator<Keyed | Pause> {
  const suffix = ({ key }: Keyed, n: number): Uint8Array => key.subarray((ranges[n] as KeyRange).prefix);
  return mergeSorted(scans, (a, b, ofA, ofB) => Buffer.compare(suffix(a, ofA), suffix(b, ofB)) * (reverse ? -1 : 1));
}

function* concat<T>(parts: Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}

function unique(documents: Pausing<StoredDocument>): Generator<StoredDocument | Pause> {
  const seen = new Set<number>();
  return filtered(documents, ({ rid }) => {
    if (seen.has(rid)) return false;
    seen.add(rid);
    return true;
  });
}

function checkDeadline(stats: ReadStats): void {
  if (Date.now() > stats.deadline) throw new CommandError('MaxTimeMSExpired', 'operation exceeded time limit');
}
