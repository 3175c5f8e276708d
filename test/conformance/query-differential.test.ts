import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EJSON } from 'bson';
import fc from 'fast-check';
import { type Collection, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { filter, smallDoc, update } from '../unit/engine/arbitraries.ts';

const REFERENCE = fileURLToPath(new URL('../../../shared/mongodb-references/start', import.meta.url));

/** The reason why there is no reference server to compare with. */
const absent = existsSync(REFERENCE)
  ? process.env.TEST_MONGODB_URL && 'the server under test may be the reference itself'
  : 'the reference server is not beside this project';

/**
 * Sends the same commands to the engine and to the independent reference server, and compares the answers. Where the
 * reference server differs from MongoDB's manual, the manual is authoritative: those cases are excluded by name below
 * and tested in the other suites.
 */
describe.skipIf(absent)(`the reference server answers alike${absent ? ` (skipped: ${absent})` : ''}`, () => {
  let engine: TestMongo;
  let server: ChildProcess;
  let folder: string;
  const clients: MongoClient[] = [];
  const database = freshDbName();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reference-'));
    const port = await freePort();
    server = spawn(REFERENCE, [String(port), folder], { stdio: 'ignore' });
    engine = await startTestMongo();
    clients.push(await MongoClient.connect(engine.uri));
    clients.push(await MongoClient.connect(`mongodb://127.0.0.1:${port}/?replicaSet=secantus`));
  });

  afterAll(async () => {
    for (const client of clients) await client.close();
    await engine?.close();
    if (server?.exitCode === null && server.kill()) await once(server, 'exit');
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const both = (name: string): [Collection<Document>, Collection<Document>] => {
    const [ours, theirs] = clients.map((client) => client.db(database).collection(name, { promoteLongs: false }));
    return [ours as Collection<Document>, theirs as Collection<Document>];
  };

  /**
   * Sends a command to both. Two errors count as equal whatever their codes, because the order of checks is not
   * specified.
   */
  async function compare(
    collections: [Collection<Document>, Collection<Document>],
    label: unknown,
    ask: (collection: Collection<Document>) => Promise<unknown>,
  ): Promise<boolean> {
    const [ours, theirs] = await Promise.all(
      collections.map((collection) =>
        ask(collection).then(
          (answer) => EJSON.stringify(answer, { relaxed: false }),
          () => 'error',
        ),
      ),
    );
    expect([EJSON.stringify(label), ours]).toEqual([EJSON.stringify(label), theirs]);
    return ours !== 'error';
  }

  async function filled(name: string, count: number): Promise<[Collection<Document>, Collection<Document>]> {
    const collections = both(name);
    const documents = fc.sample(smallDoc, { numRuns: count, seed: 17 });
    for (const collection of collections) {
      await collection.insertMany(documents.map((document, _id): Document => ({ _id, ...document })));
    }
    return collections;
  }

  test('finds', async () => {
    const collections = await filled('finds', 200);
    for (const query of fc.sample(filter, { numRuns: 400, seed: 23 }).filter((each) => !disputed(each))) {
      await compare(collections, query, async (collection) =>
        (await collection.find(query, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id),
      );
    }
  });

  test('sorts', async () => {
    const collections = await filled('sorts', 200);
    const specifications: Record<string, 1 | -1>[] = [
      { a: 1 },
      { a: -1 },
      { b: 1 },
      { b: -1 },
      { 'b.a': -1 },
      { 'a.b': -1 },
    ];
    for (const sort of specifications) {
      await compare(collections, sort, async (collection) =>
        (await collection.find({}, { sort: { ...sort, _id: 1 } }).toArray()).map(({ _id }) => _id),
      );
    }
  });

  test('updates, and findAndModify with the same', async () => {
    const collections = both('updates');
    const documents = fc.sample(smallDoc, { numRuns: 250, seed: 29 });
    let applied = 0;
    for (const [_id, change] of fc.sample(update, { numRuns: 250, seed: 31 }).entries()) {
      const options = JSON.stringify(change).includes('$[i]') ? { arrayFilters: [{ i: { $gte: 1 } }] } : {};
      const document: Document = { _id, ...documents[_id] };
      const accepted = await compare(collections, { document, change }, async (collection) => {
        await collection.insertOne({ ...document });
        if (_id % 2 === 0) {
          return collection.findOneAndUpdate({ _id } as Document, change, { ...options, returnDocument: 'after' });
        }
        const { modifiedCount } = await collection.updateOne({ _id } as Document, change, options);
        return [modifiedCount, await collection.findOne({ _id } as Document)];
      });
      if (accepted) applied += 1;
    }
    expect(applied).toBeGreaterThan(60);
  });

  test('groups', async () => {
    const collections = await filled('groups', 200);
    for (const group of [
      { _id: { $type: '$a' }, n: { $sum: 1 }, sum: { $sum: '$a' }, least: { $min: '$a' }, most: { $max: '$b' } },
      { _id: { $isArray: '$b' }, first: { $first: '$_id' }, last: { $last: '$_id' }, mean: { $avg: '$_id' } },
    ]) {
      await compare(collections, group, (collection) =>
        collection.aggregate([{ $sort: { _id: 1 } }, { $group: group }, { $sort: { _id: 1 } }]).toArray(),
      );
    }
  });
});

/** `$all` with null or arrays, arrays by position with `$mod` or null, negations in `$elemMatch` over nested arrays. */
function disputed(query: Document): boolean {
  const text = JSON.stringify(query);
  const byPosition = /\.[01]/.test(text);
  return (
    text.includes('$all') ||
    (byPosition && /null|\$mod/.test(text)) ||
    (text.includes('$elemMatch') && /\$n|null/.test(text))
  );
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
