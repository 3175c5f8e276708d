import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enumNameOf } from '../../src/domain/event.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let receiver: Receiver;
let client: Client;
let other: Client;
let endpoint: { id: string; secret: string };

beforeAll(async () => {
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true', WEBHOOK_RETRY_SCHEDULE: '0s,50ms' });
  receiver = await startReceiver();
  other = new Client(service.url, (await service.tenant()).secretKey);
});
beforeEach(async () => {
  receiver.answer((_request, response) => response.writeHead(200).end('ok'));
  receiver.received.length = 0;
  client = new Client(service.url, (await service.tenant()).secretKey);
  const events = ['invoice.accepted', 'invoice.rejected'];
  endpoint = (await client.post('/v1/webhook_endpoints', { url: `${receiver.url}/hook`, events })).body;
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

async function data(query: string, variables: Record<string, unknown> = {}, as = client) {
  const { body } = await as.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

async function problem(query: string, variables: Record<string, unknown> = {}, as = client) {
  const { body } = await as.graphql(query, variables);
  return body.errors?.[0]?.extensions ?? Object.values(body.data)[0];
}

const REFUSED = '... on Error { code message param status }';

const DELIVERIES = `query ($state: WebhookDeliveryState, $endpointId: ID, $first: Int, $after: String) {
  webhookDeliveries(state: $state, endpointId: $endpointId, first: $first, after: $after) {
    edges { cursor node { id state eventId eventType endpointId invoiceId nextAttemptAt event { body }
      attempts { status responseBody responseHeaders { name value } requestHeaders { name } latencyMs errorCode url } } }
    pageInfo { hasNextPage endCursor }
  } }`;

async function deliveries(variables: Record<string, unknown> = {}) {
  const { webhookDeliveries } = await data(DELIVERIES, variables);
  return webhookDeliveries.edges.map(({ node }: { node: unknown }) => node);
}

/** Invoices whose events no receiver accepted. */
async function failedDeliveries(count: number): Promise<void> {
  receiver.answer((_request, response) => response.writeHead(500).end('broken'));
  for (let i = 0; i < count; i++) await client.post('/v1/invoices', invoiceBody());
  await expect.poll(async () => (await deliveries({ state: 'failed' })).length, { timeout: 50_000 }).toBe(count);
  receiver.answer((_request, response) => response.writeHead(204).end());
  receiver.received.length = 0;
}

describe('the log', () => {
  it('shows each attempt: request, response and duration', async () => {
    await failedDeliveries(1);
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ state: 'failed', endpointId: endpoint.id, nextAttemptAt: null });
    expect(delivery.attempts).toHaveLength(2);
    expect(delivery.attempts[0]).toMatchObject({ status: 500, responseBody: 'broken', url: `${receiver.url}/hook` });
    expect(delivery.attempts[0].requestHeaders).toContainEqual({ name: 'Service-Signature' });
    expect(JSON.parse(delivery.event.body).data.id).toBe(delivery.invoiceId);
    const one = await data('query ($id: ID!) { webhookDelivery(id: $id) { state event { deliveries { id } } } }', {
      id: delivery.id,
    });
    expect(one.webhookDelivery).toEqual({ state: 'failed', event: { deliveries: [{ id: delivery.id }] } });
  });

  it('is paged, and hidden from other tenants', async () => {
    await failedDeliveries(3);
    const first = (await data(DELIVERIES, { first: 2 })).webhookDeliveries;
    const rest = (await data(DELIVERIES, { first: 2, after: first.pageInfo.endCursor })).webhookDeliveries;
    expect([first, rest].map(({ edges, pageInfo }) => [edges.length, pageInfo.hasNextPage])).toEqual([
      [2, true],
      [1, false],
    ]);
    const [{ id, eventId }] = await deliveries();
    const theirs = { id, eventId, endpointId: endpoint.id };
    expect((await data(DELIVERIES, { endpointId: endpoint.id }, other)).webhookDeliveries.edges).toEqual([]);
    const calls = [
      'query ($id: ID!) { webhookDelivery(id: $id) { id } }',
      'query ($eventId: ID!) { webhookEvent(id: $eventId) { id } }',
      `mutation ($eventId: ID!) { resendWebhookEvent(eventId: $eventId) { ${REFUSED} } }`,
      `mutation ($endpointId: ID!) { resendWebhookDeliveries(selection: { endpointId: $endpointId }) { ${REFUSED} } }`,
      'query ($endpointId: ID!) { webhookResendCount(selection: { endpointId: $endpointId }) { count } }',
      `mutation ($endpointId: ID!) { rotateWebhookSecret(endpointId: $endpointId) { ${REFUSED} } }`,
      `mutation ($endpointId: ID!) { sendTestWebhookEvent(type: invoice_signing, endpointId: $endpointId) { ${REFUSED} } }`,
    ];
    for (const call of calls) {
      const needed = Object.fromEntries(Object.entries(theirs).filter(([name]) => call.includes(`$${name}`)));
      expect(await problem(call, needed, other), call).toMatchObject({ code: 'resource_not_found', status: 404 });
    }
  });

  it('needs a secret key', async () => {
    const { publishableKey } = await service.tenant();
    for (const query of ['{ webhookEvents { edges { cursor } } }', '{ webhookDeliveries { edges { cursor } } }']) {
      expect(await problem(query, {}, new Client(service.url, publishableKey))).toMatchObject({ status: 403 });
    }
  });
});

describe('resending', () => {
  it('one event, with the same id and body, and the full retry schedule', async () => {
    await failedDeliveries(1);
    const [{ eventId, event }] = await deliveries();
    await data('mutation ($eventId: ID!) { resendWebhookEvent(eventId: $eventId) { __typename } }', { eventId });
    await expect.poll(() => receiver.received.length, { timeout: 50_000 }).toBe(1);
    expect(receiver.received[0]?.body).toBe(event.body);
    await expect.poll(async () => (await deliveries({ state: 'delivered' })).length).toBe(1);
    expect(receiver.received[0]?.headers).toMatchObject({ 'fatoura-trigger': 'manual' });
    expect((await deliveries())[0].attempts.map(({ status }: { status: number }) => status)).toEqual([500, 500, 204]);
  });

  it('one event to an endpoint that did not get it, even without a subscription to the type', async () => {
    const url = `${receiver.url}/later`;
    await failedDeliveries(1);
    const { body: later } = await client.post('/v1/webhook_endpoints', { url, events: ['invoice.signing'] });
    const [{ eventId }] = await deliveries();
    await data('mutation ($e: ID!, $to: ID!) { resendWebhookEvent(eventId: $e, endpointId: $to) { __typename } }', {
      e: eventId,
      to: later.id,
    });
    await expect.poll(() => receiver.received.map(({ path }) => path), { timeout: 50_000 }).toEqual(['/later']);
    expect(receiver.received[0]?.headers).toMatchObject({ 'fatoura-trigger': 'manual' });
  });

  it('marks every attempt as sent by hand with a header', async () => {
    await failedDeliveries(1);
    const headersOf = async () =>
      (await deliveries())[0].attempts.map(({ requestHeaders }: { requestHeaders: { name: string }[] }) =>
        requestHeaders.some(({ name }) => name === 'Fatoura-Trigger'),
      );
    expect(await headersOf()).toEqual([false, false]);
    receiver.answer((_request, response) => response.writeHead(500).end());
    const [{ eventId }] = await deliveries();
    await data('mutation ($eventId: ID!) { resendWebhookEvent(eventId: $eventId) { __typename } }', { eventId });
    await expect.poll(headersOf, { timeout: 50_000 }).toEqual([false, false, true, true]);
  });

  it('all failed deliveries of an endpoint, counted before', async () => {
    await failedDeliveries(3);
    const selection = { selection: { endpointId: endpoint.id } };
    const count = await data(
      'query ($selection: WebhookResendSelection!) { webhookResendCount(selection: $selection) { count more } }',
      selection,
    );
    expect(count.webhookResendCount).toEqual({ count: 3, more: false });
    const resend =
      'mutation ($selection: WebhookResendSelection!) { resendWebhookDeliveries(selection: $selection) { ... on ResendWebhookDeliveriesPayload { outcome { count } } } }';
    expect((await data(resend, selection)).resendWebhookDeliveries.outcome.count).toBe(3);
    await expect.poll(async () => (await deliveries({ state: 'delivered' })).length, { timeout: 50_000 }).toBe(3);
    expect(receiver.received).toHaveLength(3);
    expect((await data(resend, selection)).resendWebhookDeliveries.outcome.count).toBe(0);
    const nothing = { selection: { ...selection.selection, state: 'delivered', type: 'invoice_rejected' } };
    expect((await data(resend, nothing)).resendWebhookDeliveries.outcome.count).toBe(0);
    const past = { selection: { ...selection.selection, state: 'delivered', createdBefore: '2026-01-01T00:00:00Z' } };
    expect((await data(resend, past)).resendWebhookDeliveries.outcome.count).toBe(0);
  });

  it('sends nothing to a disabled endpoint', async () => {
    await failedDeliveries(1);
    await client.request('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { active: false });
    const [{ eventId }] = await deliveries();
    const again = `mutation ($e: ID!, $to: ID!) { resendWebhookEvent(eventId: $e, endpointId: $to) { ${REFUSED} } }`;
    expect(await problem(again, { e: eventId, to: endpoint.id })).toMatchObject({ code: 'invalid_request' });
  });
});

describe('test events', () => {
  it.each([
    ['invoice.signing', { status: 'signing', dgi_id: null }],
    ['invoice.transmitted', { status: 'transmitted', xml_url: null }],
    ['invoice.accepted', { status: 'accepted', dgi_id: 'DGI-SPECIMEN', rejection_reason: null }],
    ['invoice.rejected', { status: 'rejected', dgi_id: null, rejection_reason: expect.any(String) }],
  ] as const)('%s, with a specimen if there is no invoice', async (type, snapshot) => {
    const url = `${receiver.url}/all`;
    const { body: all } = await client.post('/v1/webhook_endpoints', { url, events: [type] });
    const sent = await data(
      'mutation ($type: WebhookEventType!, $to: ID!) { sendTestWebhookEvent(type: $type, endpointId: $to) { ... on SendTestWebhookEventPayload { event { id type manual } } } }',
      { type: enumNameOf(type), to: all.id },
    );
    await expect.poll(() => receiver.received.length, { timeout: 50_000 }).toBe(1);
    const [delivery] = receiver.received;
    if (!delivery) throw new Error('nothing came');
    expect(delivery.event).toMatchObject({ id: sent.sendTestWebhookEvent.event.id, data: snapshot });
    expect(Object.keys(delivery.event)).toEqual(['id', 'object', 'type', 'created', 'data']);
    expect(delivery.headers).toMatchObject({ 'fatoura-environment': 'test', 'fatoura-trigger': 'manual' });
    expect(delivery.event.type).toBe(type);
    expect(sent.sendTestWebhookEvent.event).toMatchObject({ type: enumNameOf(type), manual: true });
    expect(verifies(delivery, all.secret)).toBe(true);
  });

  it('are refused to a live key', async () => {
    const { id } = await service.tenant();
    const live = new Client(service.url, await service.liveKey(id));
    const send = `mutation { sendTestWebhookEvent(type: invoice_accepted) { ${REFUSED} } }`;
    expect(await problem(send, {}, live)).toMatchObject({ code: 'invalid_request' });
    expect((await data('{ webhookEvents { edges { cursor } } }', {}, live)).webhookEvents.edges).toEqual([]);
  });

  it('contain the latest invoice that has reached the status', async () => {
    const { body: created } = await client.post('/v1/invoices', invoiceBody({ metadata: { order: '7' } }));
    const { dgi_id } = await client.settled(created.id);
    await expect.poll(() => receiver.received.length, { timeout: 50_000 }).toBe(1);
    await data('mutation { sendTestWebhookEvent(type: invoice_accepted) { __typename } }');
    await expect.poll(() => receiver.received.length, { timeout: 50_000 }).toBe(2);
    const [real, test] = receiver.received.map(({ event }) => event);
    expect(test.id).not.toBe(real.id);
    expect(test.data).toEqual(real.data);
    expect(test.data).toMatchObject({ id: created.id, dgi_id, metadata: { order: '7' } });
  });
});

it('a rotated secret signs together with the previous one, for a day or the given time', async () => {
  const rotate = `mutation ($id: ID!, $overlap: Int) {
    rotateWebhookSecret(endpointId: $id, overlapSeconds: $overlap) { ... on RotateWebhookSecretPayload { secret endpoint { id } } ${REFUSED} } }`;
  const { secret } = (await data(rotate, { id: endpoint.id })).rotateWebhookSecret;
  expect(secret).not.toBe(endpoint.secret);
  const event = async () => {
    receiver.received.length = 0;
    await data('mutation { sendTestWebhookEvent(type: invoice_accepted) { __typename } }');
    await expect.poll(() => receiver.received.length, { timeout: 50_000 }).toBe(1);
    const [delivery] = receiver.received;
    if (!delivery) throw new Error('nothing came');
    return delivery;
  };
  const both = await event();
  for (const each of [secret, endpoint.secret]) {
    expect(verifies(both, each)).toBe(true);
    expect(new Webhook(each).verify(both.body, { ...both.headers })).toBeTruthy();
  }
  // After two concurrent rotations both new secrets are valid.
  const rotated = await Promise.all([1, 2].map(() => data(rotate, { id: endpoint.id })));
  const many = await event();
  for (const { rotateWebhookSecret } of rotated) expect(verifies(many, rotateWebhookSecret.secret)).toBe(true);
  const { secret: last } = (await data(rotate, { id: endpoint.id, overlap: 0 })).rotateWebhookSecret;
  const alone = await event();
  expect([last, secret, endpoint.secret].map((each) => verifies(alone, each))).toEqual([true, false, false]);
  expect(await problem(`mutation { sendTestWebhookEvent(type: invoice_paid) { ${REFUSED} } }`)).toMatchObject({
    code: 'invalid_request',
  });
  expect(await problem(rotate, { id: endpoint.id, overlap: -1 })).toMatchObject({ code: 'invalid_request' });
});
