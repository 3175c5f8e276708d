import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { startEngine } from '../../src/engine/embedded.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { ensureIndexes } from '../../src/storage/indexes.ts';
import { setWebhookRetention } from '../../src/storage/webhook-retention.ts';
import { openTestStore } from '../support/store.ts';
import { HOUR, receiverThat, storedEndpoint, storedInvoice, turn, webhookWorker } from '../support/webhooks.ts';

const DAY = 24 * HOUR;
const NAMES = ['webhook_events', 'webhook_deliveries', 'webhook_attempts'] as const;

/** A row as a server stores it. */
type Row = Document & { _id: string };

/** The TTL index of each collection: its field and seconds. */
async function expiries({ db }: Store): Promise<[string, number][]> {
  const found = await Promise.all(NAMES.map((name) => db.collection(name).indexes()));
  return found.map((indexes) => {
    const expiring = indexes.filter(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
    expect(expiring).toHaveLength(1);
    return [Object.keys(expiring[0]?.key ?? {}).join(), Number(expiring[0]?.expireAfterSeconds)];
  });
}

/** Delivers an event and returns what is stored of it: event, delivery, attempt. */
async function deliver(store: Store, ago = 0): Promise<Row[]> {
  const worker = webhookWorker(store, receiverThat(() => 200).send, () => new Date());
  const { tenantId } = await storedEndpoint(store);
  const invoice = await storedInvoice(store, tenantId);
  const at = new Date(Date.now() - ago);
  worker.publisher.publish({ ...invoice, events: invoice.events.map((event) => ({ ...event, at })) });
  await turn(worker);
  const of = (name: string) => store.db.collection<Row>(name);
  const delivery = await of('webhook_deliveries').findOne({ tenantId });
  const rows = [
    await of('webhook_events').findOne({ tenantId }),
    delivery,
    await of('webhook_attempts').findOne({ _id: delivery?.attempts[0] }),
  ];
  return rows.flatMap((row) => row ?? []);
}

describe('the retention', () => {
  it('counts from when a row was stored, so that an event that waited long in the outbox is still delivered', async () => {
    const store = await openTestStore('retention');
    try {
      await setWebhookRetention(store.db, 30 * DAY);
      const before = Date.now();
      const rows = await deliver(store, 40 * DAY);
      const starts = (await expiries(store)).map(([field], i) => rows[i]?.[field].getTime());
      expect(starts).toHaveLength(3);
      for (const start of starts) expect(start).toBeGreaterThanOrEqual(before);
      // So that at no time a delivery is shown without an attempt that it names.
      expect(starts[2]).toBeGreaterThanOrEqual(starts[1]);
    } finally {
      await store.close();
    }
  });

  it.each([
    ['shortened', 30 * DAY, 7 * DAY],
    ['lengthened', 7 * DAY, 30 * DAY],
    ['longer than a server accepts', 7 * DAY, 100 * 366 * DAY],
  ])('%s: is that of the last call', async (_how, before, after) => {
    const store = await openTestStore('retention');
    try {
      for (const retention of [before, after, after]) {
        await Promise.all([1, 2, 3].map(() => setWebhookRetention(store.db, retention)));
        const seconds = Math.min(retention / 1000, 2 ** 31 - 1);
        expect((await expiries(store)).map((each) => each[1])).toEqual([seconds, seconds, seconds]);
      }
    } finally {
      await store.close();
    }
  });

  it('applies to what is stored already: shortened, to old rows at once; lengthened, before they are deleted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'retention-'));
    const engine = await startEngine({ dataDir: folder, ttlSeconds: 0.05 });
    const store = await connect(engine.uri);
    try {
      await ensureIndexes(store.db);
      await setWebhookRetention(store.db, 7 * DAY);
      await deliver(store);
      /** Makes all rows as old as if so much time had passed since they were stored. */
      const age = async (milliseconds: number) => {
        const shift = (field: string) => [{ $set: { [field]: { $subtract: [`$${field}`, milliseconds] } } }];
        for (const [i, [field]] of (await expiries(store)).entries())
          await store.db.collection(NAMES[i] ?? '').updateMany({}, shift(field));
      };
      const counts = () => Promise.all(NAMES.map((name) => store.db.collection(name).countDocuments()));
      /** Resolves when the server has removed everything that has expired before now. */
      const swept = async () => {
        const probe = store.db.collection('probe');
        await probe.createIndex({ at: 1 }, { expireAfterSeconds: 0 });
        await probe.insertOne({ at: new Date(0) });
        await expect.poll(() => probe.countDocuments(), { timeout: 60_000 }).toBe(0);
        await probe.drop();
      };
      await age(6 * DAY);
      await setWebhookRetention(store.db, 30 * DAY);
      await age(20 * DAY);
      await deliver(store);
      for (let round = 0; round < 2; round++) await swept();
      expect(await counts()).toEqual([2, 2, 2]);
      await setWebhookRetention(store.db, 7 * DAY);
      await expect.poll(counts, { timeout: 60_000 }).toEqual([1, 1, 1]);
      for (let round = 0; round < 2; round++) await swept();
      expect(await counts()).toEqual([1, 1, 1]);
    } finally {
      await store.close();
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    }
  }, 120_000);
});
