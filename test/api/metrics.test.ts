import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operator: Record<string, string>;

beforeAll(async () => {
  service = await startService({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const credential = `operator:${service.app.firstStart.operatorPassword}`;
  operator = { Authorization: `Basic ${Buffer.from(credential).toString('base64')}` };
});
afterAll(() => service.close());

const metrics = async () => (await fetch(`${service.url}/metrics`, { headers: operator })).text();

it('need the operator’s password', async () => {
  const { secretKey } = await service.tenant();
  for (const headers of [{}, { Authorization: `Bearer ${secretKey}` }]) {
    const answer = await fetch(`${service.url}/metrics`, { headers });
    expect([answer.status, answer.headers.get('www-authenticate')?.slice(0, 5)]).toEqual([401, 'Basic']);
  }
  const answer = await fetch(`${service.url}/metrics`, { headers: operator });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
});

it('count requests by route, status changes and stages, and show when the certificate expires', async () => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const { body } = await client.post('/v1/invoices', invoiceFor('001525713000085'));
  await client.get(`/v1/invoices/${body.id}?x=secret`);
  await client.get('/v1/nothing/here');
  const transition = (status: string, kind = 'invoice') =>
    `fatoura_invoice_transitions_total{environment="test",kind="${kind}",status="${status}"} 1`;
  await expect.poll(metrics, { timeout: 50_000 }).toContain(transition('accepted'));
  // A stage is counted when it ends, after its transition.
  await expect.poll(metrics).toContain('fatoura_invoice_stage_duration_seconds_count{stage="transmit"} 1');
  const text = await metrics();
  for (const status of ['signing', 'transmitted']) expect(text).toContain(transition(status));
  expect(text).not.toContain('kind="credit_note"');
  for (const stage of ['normalize', 'sign', 'transmit']) {
    expect(text).toContain(`fatoura_invoice_stage_duration_seconds_count{stage="${stage}"} 1`);
  }
  expect(text).toMatch(
    /fatoura_http_request_duration_seconds_count\{method="POST",route="\/v1\/invoices",status="201"\} 1/,
  );
  expect(text).toContain('route="/v1/invoices/:id"');
  expect(text).toMatch(/fatoura_claims_total\{outcome="lost"\} 0/);
  expect(text).toContain('route="other",status="404"');
  expect(text).toContain('nodejs_eventloop_lag_seconds');
  expect(text).not.toContain(body.id);
  const expiry = Number(/expiry_timestamp_seconds\{signer="platform"\} (\d+)/.exec(text)?.[1]);
  expect(expiry).toBeGreaterThan(Date.now() / 1000 + 9 * 365 * 86_400);
  // Credit notes are counted apart.
  const credit = `mutation { creditInvoice(invoiceId: "${body.id}", input: { reason: error }) { __typename } }`;
  await client.graphql(credit);
  await expect.poll(metrics, { timeout: 50_000 }).toContain(transition('accepted', 'credit_note'));
  expect(await metrics()).toContain(transition('accepted'));
});

it('count mails, and invoices that need attention', async () => {
  const client = new Client(service.url, (await service.tenant()).secretKey);
  const { body } = await client.post('/v1/invoices', invoiceFor('001525713000085', 'x@example.org'));
  await expect
    .poll(metrics, { timeout: 50_000 })
    .toContain('fatoura_invoice_mails_total{environment="test",outcome="sent"} 1');
  const attention = (reason: string) => `fatoura_invoices_needing_attention{reason="${reason}"}`;
  expect(await metrics()).toContain(`${attention('internal_error')} 0`);
  const later = new Date(Date.now() + 3_600_000);
  const work = { stage: 'render', attempts: 6, outcomeUnknown: false, token: null, dueAt: later };
  const collection = service.app.store.db.collection<{ _id: string }>('invoices');
  // The stage that sent the mail has ended.
  await expect
    .poll(async () => (await collection.findOne({ _id: body.id, work: { $exists: true } })) ?? null)
    .toBeNull();
  await collection.updateOne({ _id: body.id }, { $set: { work: { ...work, claims: 5 } } });
  expect(await metrics()).toContain(`${attention('internal_error')} 1`);
  await collection.updateOne({ _id: body.id }, { $set: { work: { ...work, claims: 0 } } });
  const text = await metrics();
  expect(text).toContain(`${attention('internal_error')} 0`);
  expect(text).toContain(`${attention('pdf_delayed')} 1`);
});

it('show attempts of webhooks, signatures, connections and threads', async () => {
  const receiver = await startReceiver();
  const client = new Client(service.url, (await service.tenant()).secretKey);
  receiver.answer((_, response) => response.writeHead(receiver.received.length === 1 ? 500 : 200).end());
  await client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.signing', 'invoice.accepted'] });
  const { body } = await client.post('/v1/invoices', invoiceFor('001525713000085'));
  await client.settled(body.id);
  const attempts = (outcome: string) => `fatoura_webhook_attempt_duration_seconds_count{outcome="${outcome}"} 1`;
  await expect.poll(metrics).toContain(attempts('delivered'));
  const text = await metrics();
  expect(text).toContain(attempts('refused'));
  expect(text).toMatch(/fatoura_signature_duration_seconds_count\{by="key",outcome="made"\} [1-9]/);
  expect(text).toMatch(/fatoura_mongodb_connections\{state="in_use"\} [1-9]/);
  expect(text).toMatch(/fatoura_mongodb_connections_max 64/);
  expect(text).toMatch(/fatoura_thread_tasks\{thread="writer-thread"\} \d/);
  await receiver.close();
});

it('count open streams, and count a stream as a request when it starts', async () => {
  const client = new Client(service.url, (await service.tenant()).secretKey);
  const { body } = await client.post('/v1/invoices', invoiceFor('999000000000878'));
  const end = new AbortController();
  await fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
    headers: { Authorization: `Bearer ${body.client_secret}` },
    signal: end.signal,
  });
  await expect.poll(metrics).toContain('fatoura_event_streams 1');
  expect(await metrics()).toContain('count{method="GET",route="/v1/invoices/:id/stream",status="200"} 1');
  end.abort();
  await expect.poll(metrics).toContain('fatoura_event_streams 0');
});
