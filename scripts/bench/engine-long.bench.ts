import type { Collection, MongoClient } from 'mongodb';
import { HAS_REFERENCE } from '../../test/support/reference-server.ts';
import { type DatabaseServer, openEngine, openReference } from './database-servers.ts';
import type { Benchmark, Measured, Side } from './harness.ts';

/** Documents of a quick run. */
const QUICK = 100_000;
/** Inserts that are timed while nothing else runs. */
const AT_REST = 300;
const BATCH = 2000;

interface Item {
  readonly _id: number;
  readonly tenant: string;
  readonly key: string;
  readonly amount: number;
  readonly text: string;
}

/** About 400 bytes as BSON. */
function item(_id: number): Item {
  // A permutation of the ids, so that the order of the keys is not that of the documents.
  const key = String((_id * 7_368_787) % 10_000_019).padStart(12, '0');
  return { _id, tenant: `ten_${_id % 500}`, key, amount: _id % 100_000, text: 'x'.repeat(300) };
}

/** Commands that work on the whole collection. */
const COMMANDS: Readonly<Record<string, (items: Collection<Item>, client: MongoClient) => Promise<unknown>>> = {
  scan: (items) => items.countDocuments({ text: 'y' }),
  $group: (items) => items.aggregate([{ $group: { _id: '$tenant', sum: { $sum: '$amount' } } }]).toArray(),
  sort: (items) => items.find({}, { sort: { key: 1 }, projection: { _id: 1 }, batchSize: 10 }).next(),
  'index build': (items) => items.createIndex({ key: 1 }, { name: 'key' }),
  validate: (items, client) => client.db('bench').command({ validate: items.collectionName }),
};

/**
 * Long commands on a collection of a million documents (`--most`), one after the other: documents a second of each
 * while it runs alone, and how long an insert of another client takes when it runs again, beside one at rest.
 */
export const benchmark: Benchmark = {
  name: 'engine-long',
  about:
    'commands on a whole collection, and the inserts of another client meanwhile; the peer is the reference server',
  sides: [side('embedded engine', openEngine), ...(HAS_REFERENCE ? [side('reference server', openReference)] : [])],
  answers: 'incomparable',
  repeats: 3,
  warmups: 0,
};

function side(name: string, open: () => Promise<DatabaseServer>): Side {
  let server: DatabaseServer | null = null;
  let count = 0;
  return {
    name,
    async open({ quick, most }) {
      server = await open();
      count = quick ? QUICK : most;
      const items = server.client.db('bench').collection<Item>('items');
      for (let from = 0; from < count; from += BATCH) {
        const size = Math.min(BATCH, count - from);
        await items.insertMany(Array.from({ length: size }, (_, i) => item(from + i)));
      }
    },
    async run() {
      if (!server) throw new Error(`${name} is not open`);
      return round(server.client, count);
    },
    async close() {
      await server?.close();
    },
  };
}

async function round(client: MongoClient, count: number): Promise<Measured> {
  const items = client.db('bench').collection<Item>('items');
  const beside = client.db('bench').collection('beside');
  const rates: Record<string, number> = {};
  const latencies: Record<string, number[]> = {};
  const counts: Record<string, number> = {};
  const insert = async (): Promise<number> => {
    const start = performance.now();
    await beside.insertOne({ text: 'x'.repeat(300) });
    return performance.now() - start;
  };
  latencies['insert at rest'] = [];
  for (let i = 0; i < AT_REST; i++) latencies['insert at rest'].push(await insert());
  for (const [command, run] of Object.entries(COMMANDS)) {
    const start = performance.now();
    await run(items, client);
    rates[`${command} alone (documents)`] = (1000 * count) / (performance.now() - start);
    if (command === 'index build') await items.dropIndex('key');
    const times: number[] = [];
    let isRunning = true;
    const running = run(items, client).finally(() => {
      isRunning = false;
    });
    while (isRunning) times.push(await insert());
    await running;
    latencies[`insert beside a ${command}`] = times;
    counts[`longest insert beside a ${command} (ms)`] = Math.max(...times);
  }
  await items.dropIndex('key');
  return { rates, latencies, counts };
}
