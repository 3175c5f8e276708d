import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { randomQueries } from '../support/random-operations.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

/*
 * What a credential must not see does not come, whatever the query looks like: random valid queries with the ids of everything there is.
 * `FUZZ_RUNS=5000` asks for more.
 */

const RUNS = Number(process.env.FUZZ_RUNS ?? 150);
/** Stands in every text of what is not the asker's. */
const FOREIGN = 'foreign-4e77b2';

let service: TestService;
let receiver: Receiver;
/** By whom the queries are sent. */
const askers: Record<string, { token: string; clientSecret: string | null }> = {};
let owner: Client;
/** Ids of what is not the askers', which may only be answered to who has sent them. */
let foreignIds: string[] = [];
let ids: string[] = [];

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true' });
  receiver = await startReceiver();
  const own = await service.tenant({ legalName: FOREIGN, email: `${FOREIGN}@example.com` });
  owner = new Client(service.url, own.secretKey);
  const stranger = await service.tenant();
  const customer = { ice: '001234567000080', name: FOREIGN, address: FOREIGN, email: `a@${FOREIGN}.example` };
  const lines = [{ description: FOREIGN, quantity: 1, unit_price: 10000 }];
  const endpoint = { url: `${receiver.url}/${FOREIGN}`, events: ['invoice.accepted'], description: FOREIGN };
  const endpointId = (await owner.post('/v1/webhook_endpoints', endpoint)).body.id;
  const asked = (await owner.post('/v1/invoices', invoiceBody())).body;
  const foreign = (await owner.post('/v1/invoices', invoiceBody({ customer, lines, metadata: { key: FOREIGN } }))).body;
  await Promise.all([owner.settled(asked.id), owner.settled(foreign.id)]);
  const query = '{ webhookDeliveries(state: delivered) { nodes { id eventId } } apiKeys { id } tenant { id } }';
  const data = await vi.waitFor(async () => {
    const found = (await owner.graphql(query)).body.data;
    expect(found.webhookDeliveries.nodes).toHaveLength(2);
    return found;
  }, 50_000);
  const deliveries: { id: string; eventId: string }[] = data.webhookDeliveries.nodes;
  const keys = data.apiKeys.map(({ id }: { id: string }) => id);
  foreignIds = [foreign.id, endpointId, data.tenant.id, ...keys, ...deliveries.map(({ id }) => id)];
  ids = [asked.id, ...foreignIds, ...deliveries.map(({ eventId }) => eventId), 'inv_x', ''];
  askers['the client_secret of another invoice'] = { token: asked.client_secret, clientSecret: null };
  askers['a publishable key with it'] = { token: own.publishableKey, clientSecret: asked.client_secret };
  askers['a publishable key of another tenant with it'] = {
    token: stranger.publishableKey,
    clientSecret: asked.client_secret,
  };
  askers["another tenant's secret key"] = { token: stranger.secretKey, clientSecret: null };
  askers["the tenant's live key"] = { token: await service.liveKey(own.id), clientSecret: null };
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

/** Queries that name what there is. Verifying takes a thread, and is about a text that the asker has. */
function queriesWith(clientSecret: string | null) {
  const texts = (path: string) => (path.endsWith('.clientSecret') ? [clientSecret ?? 'x'] : ids);
  return randomQueries(schema, { texts, without: ['verifyDocument'] });
}

describe('whatever is asked', () => {
  it.each([
    'the client_secret of another invoice',
    'a publishable key with it',
    'a publishable key of another tenant with it',
    "another tenant's secret key",
    "the tenant's live key",
  ])('%s sees nothing of what is not its own', async (name) => {
    const { token, clientSecret } = askers[name] as { token: string; clientSecret: string | null };
    const client = new Client(service.url, token);
    const property = fc.asyncProperty(queriesWith(clientSecret), async (query) => {
      const { body } = await client.post('/graphql', query);
      const [sent, answer] = [JSON.stringify(query), JSON.stringify(body)];
      // The live key is the tenant's, whose profile is that of both environments.
      if (name !== "the tenant's live key") expect(answer).not.toContain(FOREIGN);
      const shown = foreignIds.filter((id) => answer.includes(id) && !sent.includes(id));
      expect(shown.filter((id) => name !== "the tenant's live key" || !id.startsWith('ten_'))).toEqual([]);
    });
    await fc.assert(property, { numRuns: RUNS });
  });

  it('and whoever may see it does: the queries reach it', { timeout: 240_000 }, async () => {
    let reached = 0;
    // However the choices fall, it comes: about one query in twelve reaches it, and three thousand are asked at most.
    for (let asked = 0; asked < 3_000 && reached < 20; asked += 100) {
      for (const query of fc.sample(queriesWith(null), 100)) {
        if (JSON.stringify((await owner.post('/graphql', query)).body).includes(FOREIGN)) reached++;
      }
    }
    expect(reached).toBeGreaterThanOrEqual(20);
  });
});
