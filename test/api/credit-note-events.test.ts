import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EventType, enumNameOf, eventTypesOf } from '../../src/domain/event.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Credit } from '../../src/domain/invoice/credit.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

// The events of credit notes: GraphQL subscribes to them, REST only shows them.

const PATH = '/v1/webhook_endpoints';
const OF_INVOICES = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted', 'invoice.rejected'];
const ALL = [...OF_INVOICES, ...OF_INVOICES.map((type) => type.replace('invoice', 'credit_note'))] as EventType[];

let service: TestService;
let receiver: Receiver;
let client: Client;

beforeAll(async () => {
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  receiver = await startReceiver();
});
beforeEach(async () => {
  receiver.received.length = 0;
  client = new Client(service.url, (await service.tenant()).secretKey);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

async function data(query: string, variables: Record<string, unknown> = {}) {
  const { body } = await client.graphql(query, variables);
  expect(body.errors).toBeUndefined();
  return body.data;
}

const CREATE = `mutation ($input: CreateWebhookEndpointInput!) {
  createWebhookEndpoint(input: $input) {
    ... on CreateWebhookEndpointPayload { endpoint { id events } secret }
    ... on Error { message }
  }
}`;

/** An endpoint with these types, made by GraphQL. */
async function subscribed(events: EventType[]) {
  const input = { url: `${receiver.url}/hook`, events: events.map(enumNameOf) };
  const { endpoint, secret } = (await data(CREATE, { input })).createWebhookEndpoint;
  return { ...endpoint, secret } as { id: string; events: string[]; secret: string };
}

const listed = async () => (await client.get(PATH)).body.data;

describe('a subscription', () => {
  it('is made and changed in GraphQL, and REST shows it', async () => {
    const { id, events } = await subscribed(ALL);
    expect(events).toEqual(ALL.map(enumNameOf));
    expect(await listed()).toMatchObject([{ id, events: ALL }]);
    const update = `mutation ($id: ID!, $input: UpdateWebhookEndpointInput!) {
      updateWebhookEndpoint(id: $id, input: $input) {
        ... on UpdateWebhookEndpointPayload { endpoint { events } }
        ... on Error { message }
      }
    }`;
    const input = { events: ['credit_note_rejected'] };
    expect((await data(update, { id, input })).updateWebhookEndpoint.endpoint.events).toEqual(['credit_note_rejected']);
    expect(await listed()).toMatchObject([{ id, events: ['credit_note.rejected'] }]);
  });

  it('stays when REST changes something else, and is replaced when it states the types', async () => {
    const { id } = await subscribed(['invoice.accepted', 'credit_note.accepted']);
    const patched = async (change: object) => (await client.request('PATCH', `${PATH}/${id}`, change)).body.events;
    expect(await patched({ active: false })).toEqual(['invoice.accepted', 'credit_note.accepted']);
    expect(await patched({ events: ['invoice.rejected'] })).toEqual(['invoice.rejected']);
  });

  it.each(['POST', 'PATCH'])('is refused by %s of REST in the words for an unknown type', async (method) => {
    const { id } = await subscribed(['invoice.accepted']);
    const refused = async (type: string) => {
      const body = { url: `${receiver.url}/hook`, events: [type] };
      const answer =
        method === 'POST'
          ? await client.post(PATH, body)
          : await client.request('PATCH', `${PATH}/${id}`, { events: [type] });
      return [answer.status, answer.body.error];
    };
    const error = (type: string) => ({
      code: 'invalid_request',
      message: `events.0 must be one of ${OF_INVOICES.join(', ')}; "${type}" was sent.`,
      param: 'events.0',
      status: 400,
    });
    for (const type of ['invoice.paid', 'credit_note.accepted'])
      expect(await refused(type)).toEqual([400, error(type)]);
    expect(await listed()).toMatchObject([{ id, events: ['invoice.accepted'] }]);
  });
});

const SENT = '... on SendTestWebhookEventPayload { event { id type invoiceId body manual invoice { id } } }';

/** Sends a test event, to one endpoint or to all. */
async function sendTest(type: EventType, to: string | null = null) {
  const query = `mutation ($type: WebhookEventType!, $to: ID) {
    sendTestWebhookEvent(type: $type, endpointId: $to) { ${SENT} } }`;
  return (await data(query, { type: enumNameOf(type), to })).sendTestWebhookEvent.event;
}

describe('a test event', () => {
  it.each([
    ['credit_note.signing', { status: 'signing', dgi_id: null }],
    ['credit_note.transmitted', { status: 'transmitted', xml_url: null }],
    ['credit_note.accepted', { status: 'accepted', dgi_id: 'DGI-SPECIMEN', rejection_reason: null }],
    ['credit_note.rejected', { status: 'rejected', dgi_id: null, rejection_reason: expect.any(String) }],
  ] as const)('%s has a specimen if there is no credit note', async (type, snapshot) => {
    const { id, secret } = await subscribed([type]);
    const sent = await sendTest(type, id);
    await expect.poll(() => receiver.received.length, { timeout: 50_000 }).toBe(1);
    const [delivery] = receiver.received;
    if (!delivery) throw new Error('nothing came');
    expect(Object.keys(delivery.event)).toEqual(['id', 'object', 'type', 'created', 'data']);
    expect(delivery.event).toMatchObject({ id: sent.id, object: 'event', type });
    expect(delivery.event.data).toMatchObject({
      ...snapshot,
      id: 'crn_00000000-0000-4000-8000-000000000000',
      object: 'credit_note',
      invoice: { id: 'inv_00000000-0000-4000-8000-000000000000', number: 'SPECIMEN' },
      reason: 'cancellation',
      note: null,
    });
    expect(sent).toMatchObject({ type: enumNameOf(type), manual: true, invoice: null });
    expect(verifies(delivery, secret)).toBe(true);
    const { webhookEvents } = await data(
      'query ($type: WebhookEventType) { webhookEvents(type: $type) { nodes { id } } }',
      {
        type: enumNameOf(type),
      },
    );
    expect(webhookEvents.nodes).toEqual([{ id: sent.id }]);
  });

  it('has the latest credit note; one of invoices has the invoice before it', async () => {
    const { body: created } = await client.post('/v1/invoices', invoiceBody());
    await client.settled(created.id);
    const id = newId('crn');
    await storeAcceptedCreditNote(id, created.id);
    const ofNote = await sendTest('credit_note.accepted');
    expect(ofNote).toMatchObject({ invoiceId: id, invoice: null });
    expect(JSON.parse(ofNote.body).data).toMatchObject({
      id,
      object: 'credit_note',
      reason: 'return',
      invoice: { id: created.id, number: '2026-000001' },
      xml_url: expect.stringContaining(`/files/${id}/`),
    });
    const ofInvoice = await sendTest('invoice.accepted');
    expect(ofInvoice).toMatchObject({ invoiceId: created.id, invoice: { id: created.id } });
    expect(JSON.parse(ofInvoice.body).data).not.toHaveProperty('reason');
  });
});

/** Stores a copy of an accepted invoice as its credit note. */
async function storeAcceptedCreditNote(id: string, invoiceId: string): Promise<void> {
  const invoices = service.app.store.db.collection<InvoiceDocument>('invoices');
  const found = await invoices.findOne({ _id: invoiceId });
  if (!found) throw new Error('there is no such invoice');
  const { idempotency: _mark, series: _series, outbox: _outbox, ...original } = found;
  const types = eventTypesOf('credit_note');
  await invoices.insertOne({
    ...original,
    _id: id,
    kind: 'credit_note',
    order: newCreationMoment().order,
    ownNumber: 'AV-1',
    credit: {
      original: { id: invoiceId, number: '2026-000001', issueDate: '2026-01-31', dgiId: null },
      reason: 'return',
    } as Credit,
    events: original.events.map((event, index) => ({ ...event, id: newId('evt'), type: types[index] as EventType })),
  });
}
