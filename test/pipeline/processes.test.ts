import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { Client, invoiceBody, messagesOf } from '../support/client.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { STAND_IN_RENDERER, sharedThreads, withDatabase } from '../support/service.ts';

let mongo: TestMongo;
let dataDir: string;
let api: App;
let workers: App[];
let receiver: Receiver;

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
        ALLOW_INSECURE_WEBHOOKS: 'true',
        WEBHOOK_RETRY_SCHEDULE: '0s,100ms',
      }),
      { ...sharedThreads(), renderer: STAND_IN_RENDERER },
    );
  api = await start('api');
  workers = [await start('worker'), await start('worker')];
  receiver = await startReceiver();
});
afterAll(async () => {
  await api.store.db.dropDatabase();
  await Promise.all([api, ...workers].map((app) => app.close()));
  await receiver.close();
  await mongo.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function newTenant() {
  if (api.url === null) throw new Error('the API has no address');
  const tenantId = newId('ten');
  await api.tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
  const { token } = await api.manageKeys.create(tenantId, 'secret', 'test');
  return { tenantId, client: new Client(api.url, token) };
}

describe('an API process and two workers on one store', () => {
  it('streams the events of the workers, each once; numbers are unique and without gaps', async () => {
    const { client, tenantId } = await newTenant();
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

  it('the workers deliver events, test events and resends that the API creates, each once', async () => {
    const { client } = await newTenant();
    const states = async () => {
      const { body } = await client.graphql('{ webhookDeliveries { edges { node { state eventId } } } }');
      return body.data.webhookDeliveries.edges.map(({ node }: { node: { state: string } }) => node.state);
    };
    receiver.answer((_request, response) => response.writeHead(500).end());
    const { body: endpoint } = await client.post('/v1/webhook_endpoints', {
      url: receiver.url,
      events: ['invoice.accepted'],
    });
    await client.post('/v1/invoices', invoiceBody());
    await expect.poll(states).toEqual(['failed']);
    expect(receiver.received).toHaveLength(2);
    const eventId = receiver.received[0]?.event.id;

    receiver.answer((_request, response) => response.end());
    await client.graphql('mutation ($id: ID!) { resendWebhookEvent(eventId: $id) { __typename } }', { id: eventId });
    await expect.poll(states).toEqual(['delivered']);
    await client.graphql('mutation { sendTestWebhookEvent(type: invoice_accepted) { __typename } }');
    await expect.poll(states).toEqual(['delivered', 'delivered']);
    expect(receiver.received.slice(2).map(({ event }) => event.id === eventId)).toEqual([true, false]);
    for (const each of receiver.received) expect(verifies(each, endpoint.secret)).toBe(true);
  });

  it('counts the requests of a key in the store, for all processes together', async () => {
    expect(await api.store.db.collection('rate_windows').countDocuments()).toBeGreaterThan(0);
  });
});
