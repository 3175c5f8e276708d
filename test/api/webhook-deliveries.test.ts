import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { type Receiver, startReceiver, verifies } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  receiver = await startReceiver();
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

/** Values that XML documents cannot contain but metadata can. */
const ANY_TEXT = {
  text: '\u0000\t\r\n\u000b\u001f\u007f\u0085\u2028\u2029\ufeff\ufffe\uffff\u{1f9fe}\u{10ffff}',
  invisible: '\u200b',
  blank: '',
};
const ALL = ['invoice.signing', 'invoice.transmitted', 'invoice.accepted', 'invoice.rejected'];

async function withEndpoint(path: string, events: string[] = ALL) {
  const client = new Client(service.url, (await service.tenant()).secretKey);
  const { body: endpoint } = await client.post('/v1/webhook_endpoints', { url: `${receiver.url}${path}`, events });
  const receivedBy = () => receiver.received.filter((each) => each.path === path);
  return { client, endpoint, receivedBy };
}

it('each status change is delivered once, in order, with its snapshot and valid signatures', async () => {
  const { client, endpoint, receivedBy } = await withEndpoint('/accepted');
  const { body: created } = await client.post(
    '/v1/invoices',
    invoiceBody({ metadata: { order: 'é 42', ...ANY_TEXT } }),
  );
  expect(created.metadata).toMatchObject(ANY_TEXT);
  const accepted = await client.settled(created.id);
  await expect.poll(() => receivedBy().length, { timeout: 50_000 }).toBe(3);
  const events = receivedBy().map(({ event }) => event);
  expect(events.map(({ type }) => type)).toEqual(['invoice.signing', 'invoice.transmitted', 'invoice.accepted']);
  expect(events.map(({ data }) => data.status)).toEqual(['signing', 'transmitted', 'accepted']);
  const { lines: _lines, ...shown } = accepted;
  expect(events[2]).toEqual({
    id: expect.stringMatching(/^evt_/),
    object: 'event',
    type: 'invoice.accepted',
    created: Date.parse(accepted.updated_at) / 1000,
    data: shown,
  });
  expect(events[0].data).toMatchObject({ dgi_id: null, xml_url: null, pdf_url: null, rejection_reason: null });
  for (const delivery of receivedBy()) {
    expect(verifies(delivery, endpoint.secret)).toBe(true);
    expect(verifies({ ...delivery, body: `${delivery.body} ` }, endpoint.secret)).toBe(false);
    expect(new Webhook(endpoint.secret).verify(delivery.body, { ...delivery.headers })).toEqual(delivery.event);
    expect(delivery.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': delivery.event.id,
      'fatoura-environment': 'test',
    });
    expect(delivery.headers).not.toHaveProperty('fatoura-trigger');
    expect(Object.keys(delivery.event)).toEqual(['id', 'object', 'type', 'created', 'data']);
  }
});

it('the store contains no document URL, and a resent event has the same bytes', async () => {
  const { client, receivedBy } = await withEndpoint('/urls', ['invoice.accepted']);
  const urls = { pdf_url: '"xml_url":null,"pdf_url":null', xml_url: '"xml_url":"x","pdf_url":"y"' };
  const customer = { ice: '001234567000080', name: '"xml_url":null,"pdf_url":null' };
  const { body: created } = await client.post('/v1/invoices', invoiceBody({ metadata: urls, customer }));
  const { xml_url, pdf_url } = await client.settled(created.id);
  await expect.poll(() => receivedBy().length, { timeout: 50_000 }).toBe(1);
  const [first] = receivedBy();
  expect(first?.event.data).toMatchObject({ xml_url, pdf_url, metadata: urls, customer });
  const { db } = service.app.store;
  for (const { name } of await db.listCollections().toArray()) {
    const stored = JSON.stringify(await db.collection(name).find().toArray());
    for (const url of [xml_url, pdf_url]) expect(stored, name).not.toContain(/[^/]+(?=\.\w+$)/.exec(url)?.[0]);
  }
  const event = '{ webhookEvents(first: 1) { nodes { id body } } }';
  const [logged] = (await client.graphql(event)).body.data.webhookEvents.nodes;
  expect(logged.body).toBe(first?.body);
  const revoke = 'mutation ($id: ID!) { revokeDocumentUrls(id: $id) { __typename } }';
  expect((await client.graphql(revoke, { id: created.id })).body.errors).toBeUndefined();
  expect((await fetch(pdf_url)).status).toBe(404);
  const again = 'mutation ($id: ID!) { resendWebhookEvent(eventId: $id) { __typename } }';
  expect((await client.graphql(again, { id: logged.id })).body.errors).toBeUndefined();
  await expect.poll(() => receivedBy()[1]?.body, { timeout: 50_000 }).toBe(first?.body);
});

it('an endpoint gets only the types it subscribes to, of its own tenant', async () => {
  const other = await withEndpoint('/other');
  const { client, receivedBy } = await withEndpoint('/rejections', ['invoice.rejected']);
  const { body: created } = await client.post('/v1/invoices', invoiceFor('999000000000102'));
  const rejected = await client.settled(created.id);
  await expect.poll(() => receivedBy().length, { timeout: 50_000 }).toBe(1);
  expect(receivedBy()[0]?.event).toMatchObject({
    type: 'invoice.rejected',
    data: { id: created.id, dgi_id: null, rejection_reason: rejected.rejection_reason },
  });
  expect(other.receivedBy()).toEqual([]);
});

it('many invoices at once: no event is lost or repeated, and the events of each invoice are in order', async () => {
  const { client, receivedBy } = await withEndpoint('/many');
  const created = await Promise.all(Array.from({ length: 20 }, () => client.post('/v1/invoices', invoiceBody())));
  await expect.poll(() => receivedBy().length, { timeout: 60_000 }).toBe(60);
  for (const { body } of created) {
    const types = receivedBy().flatMap(({ event }) => (event.data.id === body.id ? [event.type] : []));
    expect(types).toEqual(['invoice.signing', 'invoice.transmitted', 'invoice.accepted']);
  }
});
