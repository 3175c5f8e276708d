import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { expect, test } from 'vitest';
import { doomedServer } from '../support/chaos-server.ts';
import { Client } from '../support/client.ts';
import { residentMemory, TELLS_MEMORY } from '../support/resident-memory.ts';
import { runningStore } from '../support/running-store.ts';

/** Of the service with the embedded engine, MiB, at any moment; docs/operations.md, "Memory", tells what was measured. */
const SERVICE_LIMIT = 1300;
/** The same with Chromium. */
const WHOLE_LIMIT = 2200;
/** How much more the 60th invoice may leave behind than the 20th, MiB. */
const GROWTH_LIMIT = 200;
const AT_ONCE = 4;

/** 1,000 lines, about 300 kB. */
function largeInvoice() {
  const lines = Array.from({ length: 1000 }, (_, i) => ({
    description: `Fourniture de pièces détachées n° ${i} — ${'texte '.repeat(30)}`,
    quantity: 2,
    unit_price: 1000 + i,
    tax_rate: 20,
  }));
  const net = lines.reduce((sum, { quantity, unit_price }) => sum + quantity * unit_price, 0);
  const customer = { ice: '001234567000089', name: 'Atlas Conseil' };
  return { amount: net + Math.round(net * 0.2), currency: 'MAD', customer, lines };
}

test.skipIf(!TELLS_MEMORY)(
  '60 invoices of 1,000 lines: the memory stays within its bounds and is not eaten up',
  async ({ signal }) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'memory-'));
    const server = doomedServer({ DATA_DIR: dataDir, LOG_LEVEL: 'error' });
    signal.addEventListener('abort', () => void server.kill());
    let close = async () => {};
    try {
      await server.start();
      const store = await runningStore(dataDir);
      close = store.close;
      const client = new Client(await server.url(), server.secretKey());
      const most = { own: 0, whole: 0 };
      const measure = async () => {
        const { own, descendants } = await residentMemory(server.pid());
        most.own = Math.max(most.own, own);
        most.whole = Math.max(most.whole, own + descendants);
        return { own, descendants };
      };
      const idle = await measure();
      const after = new Map<number, { own: number; descendants: number }>();
      for (let done = AT_ONCE; done <= 60; done += AT_ONCE) {
        const creations = Array.from({ length: AT_ONCE }, () => client.post('/v1/invoices', largeInvoice()));
        for (const { status } of await Promise.all(creations)) expect(status).toBe(201);
        while (await isBusy(store.db)) {
          await measure();
          await sleep(200);
        }
        after.set(done, await measure());
      }
      const told = ({ own, descendants }: { own: number; descendants: number }) => `${own} + ${descendants}`;
      console.log(
        `MiB, service + Chromium: idle ${told(idle)}, after ${[...after].map(([count, each]) => `${count}: ${told(each)}`).join(', ')}; at most ${most.own}, whole ${most.whole}`,
      );
      expect(await store.db.collection('invoices').countDocuments({ status: 'accepted', pdf: { $ne: null } })).toBe(60);
      expect(server.seen.complaints).toEqual([]);
      expect(most.own).toBeLessThan(SERVICE_LIMIT);
      expect(most.whole).toBeLessThan(WHOLE_LIMIT);
      expect(after.get(60)!.own - after.get(20)!.own).toBeLessThan(GROWTH_LIMIT);
      expect(after.get(60)!.descendants - after.get(20)!.descendants).toBeLessThan(GROWTH_LIMIT);
    } finally {
      await close();
      await server.kill();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    }
  },
);

/** Whether an invoice lacks its status or its PDF. */
async function isBusy(db: Db): Promise<boolean> {
  return (await db.collection('invoices').countDocuments({ work: { $exists: true } }, { limit: 1 })) > 0;
}
