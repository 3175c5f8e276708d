import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { DELIVERIES } from '../../src/dashboard/endpoints/documents.ts';
import { MEMBER_DOCUMENT } from '../../src/dashboard/invoices/documents.ts';
import { newId } from '../../src/domain/ids.ts';
import { KEPT_RESPONSE_BYTES } from '../../src/domain/limits.ts';
import { deliveryId, KEPT_ATTEMPTS } from '../../src/domain/webhook/delivery.ts';
import { schema } from '../../src/graphql/schema.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

const PAGE = 25;
/** A list with all that attempts sent and got, which the pages read of one delivery only. */
const WITH_ANSWERS = `query ($first: Int, $after: String, $last: Int, $before: String) {
  webhookDeliveries(first: $first, after: $after, last: $last, before: $before) {
    nodes { id attempts { at url status requestHeaders { name value } responseHeaders { name value } responseBody } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Half of the characters of a page in HTML are escaped in JSON, at most. */
const BODY = '"x'.repeat(KEPT_RESPONSE_BYTES / 2);
const ATTEMPT = {
  at: new Date('2026-11-02T09:30:00Z'),
  url: `https://receiver.example/${'path/'.repeat(20)}`,
  requestHeaders: { 'content-type': 'application/json', 'service-signature': 'x'.repeat(200) },
  status: 500,
  headers: Array.from({ length: 20 }, (_, n) => [`x-header-${n}`, 'value '.repeat(10)]),
  body: BODY,
  truncated: true,
  latencyMs: 10.5,
  failure: null,
};

const inBytes = (size: number) => ({ ...ATTEMPT, body: 'x'.repeat(size) });

/** Stores failed deliveries, newest first, to these endpoints for each event. */
async function storeDeliveries(
  tenantId: string,
  eventIds: readonly string[],
  endpointIds: readonly string[],
  tries: number,
  attempt: object = ATTEMPT,
): Promise<string[]> {
  // biome-ignore lint/suspicious/noExplicitAny: the stored form
  const stored = (name: string) => service.app.store.db.collection<any>(name);
  const ids: string[] = [];
  for (const [nth, eventId] of eventIds.entries()) {
    for (const endpointId of endpointIds) {
      const attempts = Array.from({ length: tries }, () => ({ ...attempt, _id: newId('evt') }));
      if (tries > 0) await stored('webhook_attempts').insertMany(attempts);
      const _id = deliveryId(eventId, endpointId);
      ids.push(_id);
      await stored('webhook_deliveries').insertOne({
        _id,
        tenantId,
        environment: 'test',
        endpointId,
        eventId,
        eventType: 'invoice.accepted',
        invoiceId: newId('inv'),
        state: 'failed',
        createdAt: new Date(),
        order: `${String(eventIds.length - nth).padStart(24, '0')}-1`,
        attempts: attempts.map(({ _id }) => _id),
        storedAt: new Date(),
      });
    }
  }
  return ids;
}

const eventIds = (count: number) => Array.from({ length: count }, () => newId('evt'));

async function answerOf(client: Client, query: unknown, variables: object) {
  const { body } = await client.post('/graphql', { query: String(query), variables });
  expect(body.errors).toBeUndefined();
  return body.data;
}

it('a page of deliveries with long answers is shorter, and the pages show each delivery once in both directions', async () => {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const { length: tries } = readConfig({}).webhookRetrySchedule;
  const ids = await storeDeliveries(tenant.id, eventIds(30), [newId('we')], tries);
  const page = async (place: object) => (await answerOf(client, WITH_ANSWERS, place)).webhookDeliveries;
  const down: string[] = [];
  let { nodes, pageInfo } = await page({ first: PAGE });
  expect(nodes.length).toBeGreaterThan(PAGE / 3);
  expect(nodes.length).toBeLessThan(PAGE);
  expect(nodes[0].attempts).toHaveLength(tries);
  expect(nodes[0].attempts[0].responseBody).toBe(BODY);
  for (;;) {
    down.push(...nodes.map(({ id }: { id: string }) => id));
    if (!pageInfo.hasNextPage) break;
    ({ nodes, pageInfo } = await page({ first: PAGE, after: pageInfo.endCursor }));
  }
  expect(down).toEqual(ids);
  const up: string[] = [nodes.at(-1).id];
  for (pageInfo = { hasPreviousPage: true, startCursor: up[0] }; pageInfo.hasPreviousPage; ) {
    ({ nodes, pageInfo } = await page({ last: PAGE, before: pageInfo.startCursor }));
    up.unshift(...nodes.map(({ id }: { id: string }) => id));
  }
  expect(up).toEqual(ids);
});

it('a page without long answers is whole: short ones, or fields that have nothing of them', async () => {
  const [short, long] = [await service.tenant(), await service.tenant()];
  await storeDeliveries(short.id, eventIds(PAGE), [newId('we')], 10, inBytes(1000));
  await storeDeliveries(long.id, eventIds(PAGE), [newId('we')], KEPT_ATTEMPTS, inBytes(KEPT_RESPONSE_BYTES));
  const first = PAGE;
  const shorts = await answerOf(new Client(service.url, short.secretKey), WITH_ANSWERS, { first });
  expect(shorts.webhookDeliveries.nodes).toHaveLength(first);
  const client = new Client(service.url, long.secretKey);
  // That of the dashboard, also with as many rows as it lets people choose.
  for (const rows of [first, 100]) {
    const listed = await answerOf(client, DELIVERIES, { first: rows });
    expect(listed.webhookDeliveries.nodes).toHaveLength(Math.min(rows, PAGE));
  }
  const few =
    'query ($first: Int) { webhookDeliveries(first: $first) { edges { node { ...A } } pageInfo { hasNextPage } } } fragment A on WebhookDelivery { attempts { ... { url status } } }';
  const { webhookDeliveries } = await answerOf(client, few, { first });
  expect(webhookDeliveries.pageInfo).toEqual({ hasNextPage: false });
  const attempts = Array(KEPT_ATTEMPTS).fill({ url: ATTEMPT.url, status: 500 });
  expect(webhookDeliveries.edges).toEqual(Array(first).fill({ node: { attempts } }));
});

it('a page of deliveries whose only attempts are longer than a page has one', async () => {
  const tenant = await service.tenant();
  await storeDeliveries(tenant.id, eventIds(2), [newId('we')], 1, inBytes(1_900_000));
  const query = '{ webhookDeliveries { nodes { attempts { responseBody } } pageInfo { hasNextPage } } }';
  const { webhookDeliveries } = await answerOf(new Client(service.url, tenant.secretKey), query, {});
  expect(webhookDeliveries.nodes).toHaveLength(1);
  expect(webhookDeliveries.pageInfo).toEqual({ hasNextPage: true });
});

it('an invoice’s page is answered with 16 endpoints that fail with long answers', async () => {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(id);
  const { timeline } = (await answerOf(client, MEMBER_DOCUMENT, { id })).document;
  const events = timeline.flatMap((each: { eventId: string | null }) => each.eventId ?? []);
  const endpoints = Array.from({ length: 16 }, () => newId('we'));
  await storeDeliveries(tenant.id, events, endpoints, 10, inBytes(KEPT_RESPONSE_BYTES));
  const { deliveries } = (await answerOf(client, MEMBER_DOCUMENT, { id })).document;
  expect(deliveries).toHaveLength(events.length * endpoints.length);
  const attempt = { at: '2026-11-02T09:30:00Z', status: 500, errorMessage: null, latencyMs: 10.5 };
  for (const { attempts } of deliveries) expect(attempts).toEqual(Array(10).fill(attempt));
});

it('the log of an embedded page is whole with long answers', async () => {
  const tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const url = 'https://receiver.example/';
  const { body: endpoint } = await client.post('/v1/webhook_endpoints', { url, events: ['invoice.accepted'] });
  await storeDeliveries(tenant.id, eventIds(PAGE), [endpoint.id], KEPT_ATTEMPTS);
  const embed =
    'mutation ($id: ID!) { result: createDeliveryLogEmbed(endpointId: $id, origins: ["https://shop.example.ma"]) { ... on CreateDeliveryLogEmbedPayload { embed { token } } } }';
  const { token } = (await answerOf(client, embed, { id: endpoint.id })).result.embed;
  const { status, body } = await new Client(service.url, token).get('/embed/api/deliveries');
  expect(status).toBe(200);
  expect(body.deliveries).toHaveLength(PAGE);
  for (const { attempts } of body.deliveries) expect(attempts).toHaveLength(KEPT_ATTEMPTS);
});

it('each field of an attempt is read, alone and with others', async () => {
  const tenant = await service.tenant();
  const failure = { code: 'timeout', message: 'No answer.' };
  const [id] = await storeDeliveries(tenant.id, eventIds(1), [newId('we')], 1, { ...ATTEMPT, failure });
  const { WebhookAttempt } = schema.getTypeMap();
  const fields = Object.values((WebhookAttempt as GraphQLObjectType).getFields()).map(({ name, type }) =>
    isLeafType(getNamedType(type)) ? name : `${name} { name value }`,
  );
  const client = new Client(service.url, tenant.secretKey);
  const one = async (selected: string) => {
    const query = `query ($id: ID!) { webhookDelivery(id: $id) { attempts { ${selected} } } webhookDeliveries { nodes { attempts { ${selected} } } } }`;
    const { webhookDelivery, webhookDeliveries } = await answerOf(client, query, { id });
    expect(webhookDeliveries.nodes).toEqual([webhookDelivery]);
    return webhookDelivery.attempts[0];
  };
  const whole = await one(fields.join(' '));
  expect(Object.values(whole)).not.toContain(null);
  const alone = [];
  for (const field of fields) alone.push(await one(field));
  expect(Object.assign({}, ...alone)).toEqual(whole);
});
