import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Int32 } from 'bson';
import { PAUSE, type Steps } from '../query/pause.ts';
import type { Doc } from '../query/types.ts';
import { decodeDocument } from '../wire/bson.ts';
import type { Collection } from './catalog.ts';
import { documentSum } from './checksums.ts';
import type { Database } from './database.ts';
import { entriesOf } from './documents.ts';
import { limitedBy } from './limited-by.ts';
import type { Store } from './store.ts';

/** Number of documents checked in one step. */
const STEP = 128;
/** Number of index entries counted in one step. */
const ENTRIES = 2000;
const MAX_ERRORS = 20;

/**
 * Checks that the documents of a collection are intact, and that each index contains exactly their keys. Other commands
 * may write meanwhile. Returns the reply of `validate`.
 */
export function* validateCollection(store: Store, collection: Collection): Steps<Doc> {
  const { indexes, firstRid, lastRid } = collection;
  const errors: string[] = [];
  const held = store.database.prepare('SELECT 1 FROM idx WHERE i = ? AND key = ? AND rid = ?');
  const read = store.database.prepare(
    `SELECT rid, sum, bson FROM doc WHERE rid > ? AND rid <= ? ORDER BY rid ${limitedBy()}`,
  );
  const entries = new PassedEntries(
    store.database,
    indexes.map(({ id }) => id),
  );
  let records = 0;
  let invalid = 0;
  try {
    let at = firstRid - 1;
    for (let rows = read.all(at, lastRid, STEP); rows.length > 0; rows = read.all(at, lastRid, STEP)) {
      const passed = new Map(indexes.map(({ id }) => [id, 0]));
      for (const row of rows) {
        at = row.rid as number;
        records++;
        const doc = intactDocument(at, row.bson as Uint8Array, row.sum as number);
        if (!doc) {
          invalid++;
          errors.push(`record ${at} is damaged`);
        }
        for (const index of doc ? indexes : []) {
          const { keys } = entriesOf(index, doc as Doc);
          const found = keys.filter((key) => held.get(index.id, key, at));
          passed.set(index.id, (passed.get(index.id) ?? 0) + found.length);
          if (found.length < keys.length) errors.push(`index ${index.name} is missing a key of record ${at}`);
        }
      }
      entries.pass(at, passed);
      yield PAUSE;
    }
    const keysPerIndex: Doc = {};
    for (const { id, name } of indexes) {
      const { keys, documents } = yield* entries.count(id);
      keysPerIndex[name] = new Int32(keys);
      if (keys !== documents) errors.push(`index ${name} has ${keys} keys, but its documents have ${documents}`);
    }
    return {
      nInvalidDocuments: new Int32(invalid),
      nrecords: new Int32(records),
      nIndexes: new Int32(indexes.length),
      keysPerIndex,
      valid: errors.length === 0,
      repaired: false,
      warnings: [],
      errors: errors.slice(0, MAX_ERRORS),
    };
  } finally {
    entries.close();
  }
}

let made = 0;

/**
 * Counts the entries of indexes in two passes, by document up to a row id and by key up to a key, while other commands
 * write. Triggers adjust the counts for writes behind either pass. Triggers and counts are temporary and belong to the
 * open SQLite transaction, so that a rollback also reverts the counts.
 */
class PassedEntries {
  readonly #sqlite: DatabaseSync;
  readonly #name = `passed_${++made}`;
  readonly #add: StatementSync;
  readonly #pass: StatementSync;

  constructor({ sqlite }: Database, indexes: readonly number[]) {
    this.#sqlite = sqlite;
    const name = this.#name;
    const behind = (row: 'NEW' | 'OLD', sign: '+' | '-') => `BEGIN UPDATE ${name} SET
      documents = documents ${sign} (${row}.rid <= rid), keys = keys ${sign} ((${row}.key, ${row}.rid) <= (key, key_rid))
      WHERE i = ${row}.i; END`;
    sqlite.exec(`
      CREATE TEMP TABLE ${name}(i INTEGER PRIMARY KEY, rid INTEGER NOT NULL DEFAULT -1, documents INTEGER NOT NULL DEFAULT 0,
        key BLOB NOT NULL DEFAULT x'', key_rid INTEGER NOT NULL DEFAULT -1, keys INTEGER NOT NULL DEFAULT 0);
      CREATE TEMP TRIGGER ${name}_added AFTER INSERT ON main.idx ${behind('NEW', '+')};
      CREATE TEMP TRIGGER ${name}_removed AFTER DELETE ON main.idx ${behind('OLD', '-')}`);
    const insert = sqlite.prepare(`INSERT INTO ${name}(i) VALUES(?)`);
    for (const id of indexes) insert.run(id);
    this.#add = sqlite.prepare(`UPDATE ${name} SET documents = documents + ? WHERE i = ?`);
    this.#pass = sqlite.prepare(`UPDATE ${name} SET rid = ?`);
  }

  /** Adds the entries found for the documents up to a row id. @param found number of entries by index id */
  pass(rid: number, found: ReadonlyMap<number, number>): void {
    for (const [index, entries] of found) this.#add.run(entries, index);
    this.#pass.run(rid);
  }

  /** Counts the entries of an index by key. Call it after the last document. */
  *count(index: number): Steps<{ keys: number; documents: number }> {
    this.#pass.run(Number.MAX_SAFE_INTEGER);
    const name = this.#name;
    const next = this.#sqlite.prepare(`SELECT key, rid FROM idx
      WHERE i = ?1 AND (key, rid) > (SELECT key, key_rid FROM ${name} WHERE i = ?1) ORDER BY key, rid LIMIT 1 OFFSET ?2`);
    const pass = this.#sqlite.prepare(`UPDATE ${name} SET keys = keys + ?, key = ?, key_rid = ? WHERE i = ?`);
    for (let row = next.get(index, ENTRIES - 1); row; row = next.get(index, ENTRIES - 1)) {
      pass.run(ENTRIES, row.key as Uint8Array, row.rid as number, index);
      yield PAUSE;
    }
    const counts = this.#sqlite.prepare(`SELECT documents, keys + (SELECT count(*) FROM idx
        WHERE idx.i = ?1 AND (idx.key, idx.rid) > (${name}.key, ${name}.key_rid)) AS keys FROM ${name} WHERE i = ?1`);
    return counts.get(index) as { documents: number; keys: number };
  }

  close(): void {
    if (!this.#sqlite.isOpen) return;
    for (const what of [`TRIGGER IF EXISTS temp.${this.#name}_added`, `TRIGGER IF EXISTS temp.${this.#name}_removed`])
      this.#sqlite.exec(`DROP ${what}`);
    this.#sqlite.exec(`DROP TABLE IF EXISTS temp.${this.#name}`);
  }
}

function intactDocument(rid: number, bytes: Uint8Array, sum: number): Doc | undefined {
  if (documentSum(rid, bytes) !== sum) return undefined;
  try {
    return decodeDocument(bytes);
  } catch {
    return undefined;
  }
}
