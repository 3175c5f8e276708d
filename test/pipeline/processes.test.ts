import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { Client, invoiceBody, messagesOf } from '../support/client.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { STAND_IN_RENDERER, withDatabase } from '../support/service.ts';

let mongo: TestMongo;
let dataDir: string;
let api: App;
let workers: App[];

beforeAll(async () => {
  mongo = await startTestMongo();
  dataDir = await mkdtemp(join(tmpdir(), 'fatoura-'));
  const MONGODB_URL = withDatabase(mongo.uri, freshDbName('processes'));
  const start = (ROLE: string) =>
    startApp(
      readConfig({
        ROLE,
        MONGODB_URL,
        MASTER_KEY: '0123456789abcdef'.repeat(4),
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'silent',
        RATE_LIMIT_SECRET: '1000',
        RATE_LIMIT_PUBLISHABLE: '1000',
      }),
      { renderer: STAND_IN_RENDERER },
    );
  api = await start('api');
  workers = [await start('worker'), await start('worker')];
});
afterAll(async () => {
  await api.store.db.dropDatabase();
  await Promise.all([api, ...workers].map((app) => app.close()));
  await mongo.close();
  await rm(dataDir, { recursive: true, force: true });
});

describe('one process for the API and two for the work, on one store', () => {
  it('streams what the workers do; every event once, every number once and without gaps', async () => {
    if (api.url === null) throw new Error('the API has no address');
    const tenantId = newId('ten');
    await api.tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
    const { token } = await api.manageKeys.create(tenantId, 'secret', 'test');
    const client = new Client(api.url, token);
    const followed = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const { body } = await client.post('/v1/invoices', invoiceBody());
        const stream = await fetch(`${api.url}/v1/invoices/${body.id}/stream`, {
          headers: { Authorization: `Bearer ${body.client_secret}` },
        });
        const messages = await Array.fromAsync(messagesOf(stream));
        return messages.map(({ data }) => data.status);
      }),
    );
    for (const statuses of followed) {
      expect(['signing', 'transmitted', 'accepted'].join().endsWith(statuses.join())).toBe(true);
      expect(statuses.at(-1)).toBe('accepted');
    }
    const stored = await api.store.db.collection('invoices').find({ tenantId, environment: 'test' }).toArray();
    const serials = stored.map(({ series }) => series.serial).sort((a, b) => a - b);
    expect(serials).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    for (const { events } of stored) {
      expect(events.map((event: { status: string }) => event.status)).toEqual(['signing', 'transmitted', 'accepted']);
    }
    expect(await api.store.db.collection('mock_submissions').countDocuments()).toBe(40);
  });

  it('counts a key’s requests in the store, for all processes together', async () => {
    expect(await api.store.db.collection('rate_limits').countDocuments()).toBeGreaterThan(0);
  });
});
