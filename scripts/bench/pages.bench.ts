import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { startEngineProcess } from '../../test/support/engine-process.ts';
import type { Benchmark, Side } from './harness.ts';

const MANY = 1_000_000;
const FEW = 1000;
const TENANTS = 10;
const BATCH = 2000;
const PAGE = 20;
const PAGES = 300;

/**
 * A page by a compound index must cost about the same for a million documents as for a thousand: at most 1.5 times as
 * much.
 */
export const benchmark: Benchmark = {
  name: 'pages',
  about: 'the embedded engine: pages of 20 by a compound index, of many documents and of few',
  sides: [side('of 1,000,000', MANY, 20_000), side('of 1,000', FEW, FEW)],
  answers: 'incomparable',
};

interface Item {
  _id: number;
  tenant: string;
  order: number;
  text: string;
}

function side(name: string, count: number, quickCount: number): Side {
  let stop = async (): Promise<void> => {};
  let size = 0;
  let page = async (_tenant: string, _before: number): Promise<Item[]> => [];
  return {
    name,
    async open({ quick }) {
      size = quick ? quickCount : count;
      const folder = await mkdtemp(join(tmpdir(), 'engine-bench-'));
      const engine = await startEngineProcess(folder);
      const client = await new MongoClient(engine.uri).connect();
      stop = async () => {
        await client.close();
        await engine.kill();
        await rm(folder, { recursive: true, force: true });
      };
      const items = client.db('bench').collection<Item>('items');
      await items.createIndex({ tenant: 1, order: -1 });
      const item = (_id: number): Item => ({
        _id,
        tenant: `tenant ${_id % TENANTS}`,
        order: _id,
        text: 'x'.repeat(200),
      });
      for (let next = 0; next < size; next += BATCH) {
        await items.insertMany(Array.from({ length: Math.min(BATCH, size - next) }, (_, n) => item(next + n)));
      }
      page = (tenant, before) =>
        items
          .find({ tenant, order: { $lt: before } })
          .sort({ order: -1 })
          .limit(PAGE)
          .toArray();
    },
    async run() {
      const start = performance.now();
      for (let i = 0; i < PAGES; i++) {
        // Avoids the last pages, so that each page is full.
        const before = Math.floor(size / 2) + ((i * 7919) % Math.floor(size / 2));
        const found = await page(`tenant ${i % TENANTS}`, before);
        if (found.length !== PAGE) throw new Error(`a page has ${found.length} documents`);
      }
      return { operations: PAGES, seconds: (performance.now() - start) / 1000 };
    },
    close: () => stop(),
  };
}
