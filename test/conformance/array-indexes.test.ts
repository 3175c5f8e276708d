import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Collection, type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startServer } from '../../src/engine/server.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

// An index of an array and of fields that are none: the others bound a scan at both ends and give its order.

type Items = Collection<Document & { _id: number }>;

let mongo: TestMongo;
let client: MongoClient;
let items: Items;

beforeAll(async () => {
  mongo = await startTestMongo();
  client = await new MongoClient(mongo.uri).connect();
});
beforeEach(() => {
  items = client.db(freshDbName('array-indexes')).collection('items');
});
afterAll(async () => {
  await client.close();
  await mongo.close();
});

const COUNT = 300;
const ALL = Array.from({ length: COUNT }, (_, n) => ({ _id: n, owner: n % 2, words: ['w', `w${n % 3}`, 'w'], at: n }));

async function fill(into: Items = items): Promise<void> {
  await into.createIndex({ owner: 1, words: 1, at: -1 }, { name: 'words' });
  await into.insertMany(ALL);
}

/** @returns the ids that are found, and the number of documents that were read for them */
async function read(filter: Document, sort: Document, limit = 5, from: Items = items) {
  const query = () => from.find(filter as never, { hint: 'words', sort: sort as never, limit });
  const { executionStats } = await query().explain('executionStats');
  return { ids: (await query().toArray()).map(({ _id }) => _id), docs: executionStats.totalDocsExamined };
}

describe('the other fields of an index of an array', () => {
  beforeEach(() => fill());

  test.each([
    [{ owner: 0, words: 'w' }, [298, 296, 294, 292, 290]],
    [{ owner: 0, words: 'w1', at: { $lt: 100 } }, [94, 88, 82, 76, 70]],
    [{ owner: 0, words: 'w1', at: { $lt: 100, $gte: 80 } }, [94, 88, 82]],
  ])('give the order, so that no more is read than returned: %j', async (filter, expected) => {
    expect(await read(filter, { at: -1 })).toEqual({ ids: expected, docs: expected.length });
  });

  test('give the order upwards, too, and merged over several words', async () => {
    expect((await read({ owner: 1, words: 'w2', at: { $gt: 100 } }, { at: 1 })).ids).toEqual([101, 107, 113, 119, 125]);
    const both = await read({ owner: 1, words: { $in: ['w1', 'w2'] } }, { at: -1 });
    expect(both.ids).toEqual([299, 295, 293, 289, 287]);
    expect(both.docs).toBeLessThan(10);
  });

  test('bound the scan at both ends', async () => {
    const { docs } = await read({ owner: 1, words: 'w', at: { $gt: 100, $lt: 110 } }, {});
    expect(docs).toBe(5);
  });

  test('give no order once one of them is an array', async () => {
    await items.insertMany([
      { _id: 1000, owner: 0, words: 'w', at: [1, 297.5] },
      { _id: 1001, owner: 0, words: 'w', at: [-5, 295] },
    ]);
    expect((await read({ owner: 0, words: 'w' }, { at: -1 })).ids).toEqual([298, 1000, 296, 1001, 294]);
    // One element is above one end, another one below the other.
    const within = await read({ owner: 0, words: 'w', at: { $gt: 290, $lt: 10 } }, { _id: 1 });
    expect(within.ids).toEqual([1000, 1001]);
  });
});

describe('counts', () => {
  const ODD = [
    { _id: 1000, owner: 0, words: [], at: 1 },
    { _id: 1001, owner: 0, words: null, at: 1 },
    { _id: 1002, owner: 0, at: 1 },
    { _id: 1003, owner: 0, words: [['w'], 'w1'], at: 2 },
    { _id: 1004, owner: 0, words: 'w', at: 3 },
    { _id: 1005, owner: 0, words: ['w', 'zz'], at: 4 },
    { _id: 1006, owner: [0, 1], words: 'w2', at: 4 },
    { _id: 1007, owner: 0, words: { w: 'w' }, at: 4 },
  ];
  const FILTERS: Document[] = [
    { owner: 0, words: 'w' },
    { owner: 0, words: { $eq: 'w' } },
    { owner: 0, words: { $eq: 'w', $gt: 'zy' } },
    { owner: 0, words: { $gte: 'w', $lte: 'w' } },
    { owner: 0, words: { $in: ['w'] } },
    { owner: 0, words: { $in: ['w', 'w1'] } },
    { owner: { $in: [0, 1] }, words: 'w2' },
    { owner: 0, words: null },
    { owner: 0, words: [] },
    { owner: 0, words: ['w', 'zz'] },
    { owner: 0, words: /^w/ },
    { owner: 0, words: 'w', at: { $lt: 100, $gte: 3 } },
    { owner: 0, words: 'w', at: { $in: [2, 3, 4] } },
    { owner: 0 },
    { owner: 0, words: 'w', $and: [{ words: 'w1' }] },
    { owner: 0, words: 'w', other: null },
    {},
  ];

  test.each(FILTERS)('by the index are those of a comparison of all documents: %j', async (filter) => {
    for (const odd of [ODD.filter(({ owner }) => owner === 0), ODD]) {
      const from = client.db(freshDbName('array-counts')).collection<Document & { _id: number }>('items');
      await fill(from);
      await from.insertMany(odd);
      const all = await from.find(filter, { hint: { $natural: 1 } }).toArray();
      expect(await from.countDocuments(filter, { hint: 'words' })).toBe(all.length);
      for (const [skip, limit] of [
        [0, 3],
        [2, 5],
        [1, 1000],
      ] as const) {
        const counted = await from.countDocuments(filter, { hint: 'words', skip, limit });
        expect(counted).toBe(Math.max(0, Math.min(limit, all.length - skip)));
      }
    }
  });
});

test('counts of one word read keys alone, as explain says', async () => {
  await fill();
  const explain = async (query: Document) => {
    const command = { explain: { count: items.collectionName, query, hint: 'words' }, verbosity: 'executionStats' };
    const { queryPlanner, executionStats } = await client.db(items.dbName).command(command);
    return [queryPlanner.winningPlan.inputStage.stage, executionStats.totalDocsExamined];
  };
  expect(await explain({ owner: 0, words: 'w1' })).toEqual(['COUNT_SCAN', 0]);
  expect((await explain({ owner: 0, words: /^w1/ }))[0]).toBe('IXSCAN');
});

test('the order is known after a restart, and of an index that was built over documents', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'array-indexes-'));
  try {
    for (const round of ['built', 'again']) {
      const engine = await startServer({ dataDir: folder });
      const own = await new MongoClient(engine.uri).connect();
      const there: Items = own.db('restart').collection('items');
      if (round === 'built') {
        await there.insertMany(ALL);
        await there.createIndex({ owner: 1, words: 1, at: -1 }, { name: 'words' });
      }
      expect((await read({ owner: 0, words: 'w', at: { $lt: 100 } }, { at: -1 }, 5, there)).docs).toBe(5);
      await own.close();
      await engine.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
