import { DatabaseSync } from 'node:sqlite';
import { deserialize, serialize } from 'bson';
import {
  CHANGES,
  dueJobs,
  type Item,
  item,
  type Job,
  PAGE,
  STORED,
  type StoreWork,
  soughtId,
  soughtPage,
} from './engine-work.ts';
import type { Measured } from './harness.ts';

const SCHEMA = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
  CREATE TABLE items(id TEXT PRIMARY KEY, tenant TEXT, sequence INTEGER, bson BLOB);
  CREATE INDEX by_tenant ON items(tenant, sequence);
  CREATE TABLE inserted(id TEXT PRIMARY KEY, tenant TEXT, sequence INTEGER, bson BLOB);
  CREATE INDEX inserted_by_tenant ON inserted(tenant, sequence);
  CREATE TABLE jobs(id INTEGER PRIMARY KEY, name TEXT, next_run INTEGER, locked INTEGER, bson BLOB);
  CREATE INDEX due ON jobs(name, locked, next_run);
  CREATE TABLE changes(id INTEGER PRIMARY KEY, bson BLOB);
`;

/**
 * The work of `prepareWork` on the same storage as the engine's, with hand-written SQL in this process: no server,
 * protocol, oplog or query language. Each write is one commit, and concurrent writes run one after the other. A change
 * counts as received at its commit.
 */
export function prepareRawWork(path: string): StoreWork {
  const database = new DatabaseSync(path);
  database.exec(SCHEMA);
  const insertInto = (table: string) => {
    const statement = database.prepare(`INSERT INTO ${table} VALUES(?, ?, ?, ?)`);
    return (doc: Item) => void statement.run(doc._id, doc.tenant, doc.order, serialize(doc));
  };
  const store = insertInto('items');
  const insert = insertInto('inserted');
  const find = database.prepare('SELECT bson FROM items WHERE id = ?');
  const page = database.prepare(
    'SELECT bson FROM items WHERE tenant = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?',
  );
  const addJob = database.prepare('INSERT INTO jobs VALUES(?, ?, ?, NULL, ?)');
  const nextJob = database.prepare(
    'SELECT id, bson FROM jobs WHERE name = ? AND locked IS NULL AND next_run <= ? ORDER BY next_run LIMIT 1',
  );
  const lock = database.prepare('UPDATE jobs SET locked = ?, bson = ? WHERE id = ?');
  const change = database.prepare('INSERT INTO changes VALUES(?, ?)');
  const atOnce = (work: () => void): void => {
    database.exec('BEGIN IMMEDIATE');
    work();
    database.exec('COMMIT');
  };
  atOnce(() => {
    for (let i = 0; i < STORED; i++) store(item(i));
  });
  let last = STORED;
  let lastChange = 0;

  const claim = (): number => {
    let id = -1;
    atOnce(() => {
      const row = nextJob.get('sign', Date.now()) as { id: number; bson: Uint8Array };
      const job = deserialize(row.bson) as Job;
      const now = new Date();
      lock.run(now.getTime(), serialize({ ...job, lockedAt: now }), row.id);
      id = row.id;
    });
    return id;
  };

  return {
    async round(operations): Promise<Measured> {
      const answers: unknown[] = [];
      const rates: Record<string, number> = {};
      const measure = (name: string, count: number, one: (i: number) => void): void => {
        const start = performance.now();
        for (let i = 0; i < count; i++) one(i);
        rates[name] = (count / (performance.now() - start)) * 1000;
      };
      const documentOf = (row: unknown): unknown => deserialize((row as { bson: Uint8Array }).bson);
      measure('inserts, serial', operations, () => insert(item(last++)));
      measure('inserts, 32 concurrent', operations * 2, () => insert(item(last++)));
      measure('finds by _id', operations, (i) => void answers.push(documentOf(find.get(soughtId(i)))));
      measure('pages of 20 by index', operations / 2, (i) => {
        const { tenant, before } = soughtPage(i);
        answers.push(page.all(tenant, before, PAGE).map(documentOf));
      });
      database.exec('DELETE FROM jobs');
      atOnce(() => {
        for (const job of dueJobs(operations)) addJob.run(job._id, job.name, job.nextRunAt.getTime(), serialize(job));
      });
      measure('claims', operations, () => void answers.push(claim()));
      const latencies = Array.from({ length: Math.min(operations, CHANGES) }, () => {
        const start = performance.now();
        change.run(lastChange, serialize({ _id: lastChange++ }));
        return performance.now() - start;
      });
      database.exec('DELETE FROM inserted');
      return { rates, latencies: { 'change event': latencies }, answer: JSON.stringify(answers) };
    },
    close: async () => database.close(),
  };
}
