import type { CommandStartedEvent } from 'mongodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { STAND_IN_RENDERER, startService, type TestService, type TestTenant } from '../support/service.ts';

const INVOICES = 20;

let service: TestService;
let receiver: Receiver;
let tenant: TestTenant;
let client: Client;
const created: { id: string; client_secret: string }[] = [];
let endpointId: string;

beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' }, STAND_IN_RENDERER, true);
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
  const events = ['invoice.signing', 'invoice.accepted'];
  endpointId = (await client.post('/v1/webhook_endpoints', { url: `${receiver.url}/hook`, events })).body.id;
  for (let i = 0; i < INVOICES; i++) created.push((await client.post('/v1/invoices', invoiceBody())).body);
  const DELIVERED = '{ webhookDeliveries(state: delivered, first: 100) { nodes { id } } }';
  await vi.waitFor(
    async () => {
      const { nodes } = (await client.graphql(DELIVERED)).body.data.webhookDeliveries;
      expect(nodes).toHaveLength(2 * INVOICES);
    },
    { timeout: 60_000, interval: 100 },
  );
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const RELATIONS = `query ($first: Int) {
  invoices(first: $first) {
    nodes {
      id
      events { id type body invoice { id } deliveries { id } }
      deliveries { eventType state endpoint { id url } event { id type } invoice { id } attempts { status } }
    }
  }
}`;

/** The queries that an operation sends to the store, without those of jobs, sweeps, sums and change streams. */
function isLookUp({ commandName, command }: CommandStartedEvent): boolean {
  // The sums of periods read in transactions.
  if (commandName !== 'find' || 'txnNumber' in command || !/^(invoices|webhook_\w+)$/.test(command.find)) return false;
  return ['_id', '$or', 'tenantId'].some((field) => field in command.filter) && !('work.token' in command.filter);
}

async function relationsOf(first: number) {
  const lookUps: string[] = [];
  const listener = (event: CommandStartedEvent) => {
    if (isLookUp(event)) lookUps.push(`${event.command.find} ${Object.keys(event.command.filter)}`);
  };
  service.app.store.client.on('commandStarted', listener);
  const { body } = await client.graphql(RELATIONS, { first });
  service.app.store.client.off('commandStarted', listener);
  expect(body.errors).toBeUndefined();
  return { nodes: body.data.invoices.nodes, lookUps: lookUps.sort() };
}

it('an invoice refers to its events and deliveries, which refer to one another', async () => {
  const { nodes } = await relationsOf(INVOICES);
  expect(nodes.map(({ id }: { id: string }) => id)).toEqual(created.map(({ id }) => id).reverse());
  for (const { id, events, deliveries } of nodes) {
    const types = events.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['invoice_signing', 'invoice_transmitted', 'invoice_accepted']);
    for (const event of events) {
      expect(JSON.parse(event.body)).toMatchObject({ id: event.id, data: { id } });
      expect(event.invoice).toEqual({ id });
      expect(event.deliveries).toHaveLength(event.type === 'invoice_transmitted' ? 0 : 1);
    }
    expect(deliveries).toHaveLength(2);
    for (const delivery of deliveries) {
      expect(delivery).toEqual({
        eventType: delivery.event.type,
        state: 'delivered',
        endpoint: { id: endpointId, url: `${receiver.url}/hook` },
        event: { id: expect.stringMatching(/^evt_/), type: expect.stringMatching(/^invoice_(signing|accepted)$/) },
        invoice: { id },
        attempts: [{ status: 200 }],
      });
    }
  }
});

it('a page of 20 invoices with all its relations costs as many queries to the store as one of 2', async () => {
  const [small, large] = [await relationsOf(2), await relationsOf(INVOICES)];
  expect(large.lookUps).toEqual(small.lookUps);
  // One query for the page; for events: log, invoices, deliveries; for deliveries: ledger, ids of attempts, attempts,
  // endpoints, events, invoices.
  expect(large.lookUps).toHaveLength(10);
});

it('only a secret key of the tenant sees them', async () => {
  const [invoice] = created;
  if (!invoice) throw new Error('there is no invoice');
  const ONE = 'query ($id: ID!) { invoice(id: $id) { events { body } deliveries { endpoint { url } } } }';
  const { body } = await new Client(service.url, invoice.client_secret).graphql(ONE, { id: invoice.id });
  expect(body).toEqual({ data: { invoice: { events: [], deliveries: [] } } });
});

it('a deleted endpoint and an event past its retention time are null', async () => {
  const { body: other } = await client.post('/v1/webhook_endpoints', {
    url: `${receiver.url}/other`,
    events: ['invoice.rejected'],
  });
  const RESEND = `mutation ($id: ID!, $to: ID!) {
    resendWebhookEvent(eventId: $id, endpointId: $to) { ... on ResendWebhookEventPayload { deliveries { id } } }
  }`;
  const [{ events }] = (await relationsOf(1)).nodes;
  await client.graphql(RESEND, { id: events[1].id, to: other.id });
  await client.request('DELETE', `/v1/webhook_endpoints/${other.id}`);
  await service.app.store.db.collection('webhook_events').deleteOne({ _id: events[0].id });
  const [{ deliveries, events: kept }] = (await relationsOf(1)).nodes;
  expect(kept.map(({ id }: { id: string }) => id)).toEqual([events[1].id, events[2].id]);
  const seen = deliveries.map(({ event, endpoint }: Record<string, { id: string } | null>) => [
    event?.id ?? null,
    endpoint?.id ?? null,
  ]);
  expect(seen).toEqual([
    [null, endpointId],
    [events[1].id, null],
    [events[2].id, endpointId],
  ]);
});
