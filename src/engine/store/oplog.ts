import { type Binary, type Long, Timestamp } from 'bson';
import { corruptionError, rowSum, SUMS } from './checksums.ts';
import type { Database } from './database.ts';
import { limitedBy } from './limited-by.ts';

/**
 * The recorded operation: i insert, u update, r replace, d delete, n rename, x drop, X dropDatabase. For streams with
 * `showExpandedEvents` also c create, k createIndexes, K dropIndexes, m modify.
 */
export type Op = 'i' | 'u' | 'r' | 'd' | 'n' | 'x' | 'X' | 'c' | 'k' | 'K' | 'm';

export interface OplogEntry {
  /** Position of the entry, which encodes its cluster time: see `timestampOf`. */
  seq: number;
  /** Wall clock in milliseconds. */
  wall: number;
  op: Op;
  db: string;
  coll: string;
  /** UUID of the collection; null for a database. */
  uuid: Uint8Array | null;
  /** `documentKey`, encoded as BSON. */
  id: Uint8Array | null;
  /**
   * The document (for i and r), `{updatedFields, removedFields, truncatedArrays}` (for u), or the description of the
   * operation.
   */
  body: Uint8Array | null;
  /** `EventExtra`, encoded as BSON. */
  extra: Uint8Array | null;
}

/** The scope that a change stream watches: a collection, a database, or the whole deployment. */
export interface Scope {
  db: string | undefined;
  coll: string | undefined;
}

const EVERYTHING: Scope = { db: undefined, coll: undefined };

/** Optional data of an entry. */
export interface EventExtra {
  /** The pre-image, if the collection stores pre- and post-images. */
  before?: Binary;
  /** The post-image, if the collection stores pre- and post-images. */
  after?: Binary;
  /** The transaction that made the change. */
  lsid?: { id: Binary };
  txnNumber?: Long;
}

interface StoredEntry extends OplogEntry {
  /** Total bytes of all entries appended so far, this one included. */
  pos: number;
}

/** An entry that has no position and time yet. */
export type Event = Omit<OplogEntry, 'seq' | 'wall'>;

/** A position encodes a cluster time: seconds × 2^20 + increment, which stays below 2^53. */
const STEP = 2 ** 20;
/** Bytes that an entry uses in addition to its documents. */
const OVERHEAD = 64;
/**
 * A commit deletes up to this many entries plus twice as many as it appends, so that the size stays bounded at any
 * write rate.
 */
const TRIM_ROWS = 500;
/** Trimming starts when the size exceeds the limit by this factor, and continues down to the limit. */
const TRIM_FACTOR = 1.05;

const ENTRIES = `SELECT seq, pos, wall, op, db, coll, uuid, id, body, extra, sum FROM oplog
  WHERE seq > ?1 AND seq <= ?5 AND (?3 IS NULL OR db = ?3) AND (?4 IS NULL OR coll = ?4 OR coll = '') ORDER BY seq ${limitedBy('?2')}`;
const OLDEST = `SELECT seq, pos FROM oplog ORDER BY seq ${limitedBy()}`;

/** The cluster time of a position. */
export function timestampOf(seq: number): Timestamp {
  return new Timestamp({ t: Math.floor(seq / STEP), i: seq % STEP });
}

/** The position of a cluster time. */
export function seqOf(time: Timestamp): number {
  return time.t * STEP + Math.min(time.i, STEP - 1);
}

/** The oplog, which change streams read. Its size in bytes is limited; the oldest entries are trimmed first. */
export class Oplog {
  readonly #database: Database;
  readonly #limit: number;
  /** Position of the newest entry. */
  last: number;
  /** Position of the newest trimmed entry. */
  floor: number;
  #endPos: number;
  #startPos: number;
  #trimming = false;
  /** Number of entries since the last commit. */
  #appended = 0;
  #touched = new Set<string>();
  /**
   * While a command of a transaction runs, its entries are collected here. They go to the oplog when the transaction
   * commits.
   */
  capture: Event[] | undefined;

  constructor(database: Database, limit: number) {
    this.#database = database;
    this.#limit = limit;
    const newest = database.prepare('SELECT seq, pos FROM oplog ORDER BY seq DESC LIMIT 1').get();
    const oldest = database.prepare('SELECT pos FROM oplog ORDER BY seq LIMIT 1').get();
    this.floor = Number(database.prepare("SELECT value FROM meta WHERE name = 'floor'").get()?.value ?? 0);
    this.last = Math.max(Number(newest?.seq ?? 0), this.floor, now() - 1);
    this.#endPos = Number(newest?.pos ?? 0);
    this.#startPos = Number(oldest?.pos ?? this.#endPos);
    if (this.floor === 0 && !newest) this.#setFloor(this.last - 1);
  }

  /** Appends an entry, inside the SQLite transaction of the write that it records. */
  append(event: Event): void {
    if (this.capture) {
      this.capture.push(event);
      return;
    }
    const { op, db, coll, uuid, id, body, extra } = event;
    this.last = Math.max(this.last + 1, now());
    this.#endPos += (id?.length ?? 0) + (body?.length ?? 0) + (extra?.length ?? 0) + OVERHEAD;
    const entry = { seq: this.last, pos: this.#endPos, wall: Date.now(), ...event };
    this.#database
      .prepare(
        'INSERT INTO oplog(seq, pos, wall, op, db, coll, uuid, id, body, extra, sum) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(entry.seq, entry.pos, entry.wall, op, db, coll, uuid, id, body, extra, entrySum(entry));
    this.#appended++;
    this.#touched.add(op === 'X' ? db : `${db}.${coll}`);
  }

  /**
   * Reads entries of the scope between the positions `after` (exclusive) and `end` (inclusive), oldest first. Entries
   * about the scope's database are included. Entries out of scope are skipped without being read.
   */
  read(after: number, limit: number, { db, coll }: Scope = EVERYTHING, end = Number.MAX_SAFE_INTEGER): OplogEntry[] {
    const rows = this.#database
      .prepare(ENTRIES)
      .all(after, limit, db ?? null, coll ?? null, end) as unknown as (StoredEntry & { sum: number })[];
    if (rows.some((row) => entrySum(row) !== row.sum)) throw corruptionError('an oplog entry');
    return rows;
  }

  /** Position of the nth entry after a position; undefined if there are fewer. */
  positionAfter(after: number, nth: number): number | undefined {
    const row = this.#database
      .prepare('SELECT seq FROM oplog WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?')
      .get(after, nth - 1);
    return row && Number(row.seq);
  }

  /** Position of the newest stored entry; 0 if there is none. */
  newest(): number {
    const row = this.#database.prepare('SELECT seq FROM oplog ORDER BY seq DESC LIMIT 1').get();
    return Number(row?.seq ?? 0);
  }

  /** Returns the namespaces written since the last call (for a dropped database, its name), and clears the set. */
  takeTouched(): Set<string> {
    const touched = this.#touched;
    if (touched.size > 0) this.#touched = new Set();
    return touched;
  }

  /**
   * Deletes the oldest entries beyond the size limit, in proportion to those appended by this commit, so that no commit
   * is slow. Runs inside each commit. Once the size is within the limit, it does nothing until the limit is exceeded by
   * `TRIM_FACTOR`.
   */
  trim(): void {
    const most = TRIM_ROWS + 2 * this.#appended;
    this.#appended = 0;
    if (this.#endPos - this.#startPos > this.#limit * TRIM_FACTOR) this.#trimming = true;
    if (!this.#trimming) return;
    const rows = this.#database.prepare(OLDEST).all(most) as unknown as {
      seq: number;
      pos: number;
    }[];
    let [dead, start] = [0, this.#startPos];
    for (const { seq, pos } of rows) {
      if (seq === this.last || this.#endPos - start <= this.#limit) break;
      [dead, start] = [seq, pos];
    }
    if (dead === 0) return;
    this.#database.prepare('DELETE FROM oplog WHERE seq <= ?').run(dead);
    this.#startPos = start;
    this.#trimming = this.#endPos - start > this.#limit;
    this.#setFloor(dead);
  }

  #setFloor(seq: number): void {
    this.#database
      .prepare(`INSERT OR REPLACE INTO meta(name, value, sum)
          SELECT name, value, ${SUMS.meta} FROM (SELECT 'floor' AS name, ? AS value)`)
      .run(seq);
    this.floor = seq;
  }
}

function entrySum({ op, db, coll, uuid, id, body, extra, seq, pos, wall }: StoredEntry): number {
  return rowSum([op, db, coll, uuid, id, body, extra], seq, pos, wall);
}

function now(): number {
  return Math.floor(Date.now() / 1000) * STEP + 1;
}
