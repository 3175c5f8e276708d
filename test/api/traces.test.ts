import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type App, startApp } from '../../src/app/app.ts';
import { readConfig } from '../../src/config.ts';
import { newId } from '../../src/domain/ids.ts';
import { createLogger } from '../../src/transport/logger.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { freshDbName, startTestMongo } from '../support/mongodb.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { STAND_IN_RENDERER, sharedThreads, withDatabase } from '../support/service.ts';

const MASTER_KEY = '0123456789abcdef'.repeat(4);
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const tenantId = newId('ten');

let collector: Awaited<ReturnType<typeof startCollector>>;
let receiver: Receiver;
let dataDir: string;
let api: App;
let worker: App;
let client: Client;
let logged = '';

beforeAll(async () => {
  [collector, receiver, dataDir] = await Promise.all([
    startCollector(),
    startReceiver(),
    mkdtemp(join(tmpdir(), 'fatoura-')),
  ]);
  const { uri } = await startTestMongo();
  const common = {
    PORT: '0',
    DATA_DIR: dataDir,
    MASTER_KEY,
    MONGODB_URL: withDatabase(uri, freshDbName('traces')),
    ALLOW_INSECURE_WEBHOOKS: 'true',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
  const write = (line: string) => {
    logged += line;
  };
  const parts = () => ({ ...sharedThreads(), renderer: STAND_IN_RENDERER, log: createLogger('debug', { write }) });
  api = await startApp(readConfig({ ...common, ROLE: 'api', OTEL_SERVICE_NAME: 'api' }), parts());
  worker = await startApp(
    readConfig({ ...common, ROLE: 'worker', METRICS_PORT: '0', OTEL_SERVICE_NAME: 'worker' }),
    parts(),
  );
  await api.tenants.insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() });
  client = new Client(api.url ?? '', (await api.manageKeys.create(tenantId, 'secret', 'test')).token);
});
afterAll(async () => {
  await api.close();
  await api.store.db.dropDatabase().catch(() => undefined);
  await worker.close();
  collector.close();
  await receiver.close();
  await rm(dataDir, { recursive: true, force: true });
});

const named = (name: string) => collector.spans.filter((span) => span.traceId === TRACE && span.name === name);
const attributes = (span: CollectedSpan | undefined) =>
  Object.fromEntries(span?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]) ?? []);

it('show an invoice as one trace: from the request through every stage of another process to its webhooks and logs', async () => {
  await client.post('/v1/webhook_endpoints', { url: receiver.url, events: ['invoice.accepted'] });
  const invoice = invoiceFor('001525713000085', 'x@example.org');
  const created = await client.post('/v1/invoices', invoice, { traceparent: `00-${TRACE}-${CALLER}-01` });
  const { id, client_secret } = created.body;
  // The mock authority decides at once, so that there is nothing to ask it later.
  const stages = ['normalize', 'sign', 'transmit', 'render', 'email'];
  for (const name of ['webhook delivery', ...stages.map((stage) => `invoice ${stage}`)])
    await expect.poll(() => named(name).length, { message: name }).toBeGreaterThan(0);

  const [request] = named('POST /v1/invoices');
  const [creation] = named('invoice create');
  expect(request).toMatchObject({ parentSpanId: CALLER, kind: 2, service: 'api' });
  expect(attributes(request)).toMatchObject({ 'http.route': '/v1/invoices', 'http.response.status_code': 201 });
  expect(creation).toMatchObject({ parentSpanId: request?.spanId, service: 'api' });
  for (const stage of stages) {
    const [span] = named(`invoice ${stage}`);
    expect(span, stage).toMatchObject({ parentSpanId: creation?.spanId, service: 'worker' });
    expect(attributes(span)).toMatchObject({ 'fatoura.invoice.id': id });
  }
  expect(named('webhook delivery')).toMatchObject([{ parentSpanId: creation?.spanId, kind: 3, service: 'worker' }]);
  const [delivery] = receiver.received;
  expect(delivery?.headers.traceparent).toBe(`00-${TRACE}-${named('webhook delivery')[0]?.spanId}-01`);

  const stored = api.store.db.collection<{ _id: string }>('invoices');
  expect(await stored.findOne({ _id: id })).toMatchObject({ traceparent: `00-${TRACE}-${creation?.spanId}-01` });
  await stored.updateOne({ _id: id }, { $unset: { traceparent: '' } });

  // Nothing of it is in what clients get, and nothing of theirs in a span.
  const answers = [created.body, (await client.get(`/v1/invoices/${id}`)).body, delivery?.event];
  expect(JSON.stringify(answers)).not.toMatch(/trace/i);
  const spans = JSON.stringify(collector.spans);
  for (const secret of [
    client_secret.split('_secret_')[1],
    String((invoice.customer as { name: string }).name),
    'x@example.org',
    receiver.url,
  ])
    expect(spans.includes(secret), secret).toBe(false);
  expect(logged.includes(client_secret.split('_secret_')[1])).toBe(false);

  const lines = logged.split('\n').flatMap((line) => (line.includes(TRACE) ? [JSON.parse(line)] : []));
  expect(lines.find(({ path }) => path === '/v1/invoices')).toMatchObject({
    traceId: TRACE,
    invoiceId: id,
    tenantId,
    requestId: created.headers.get('request-id'),
  });
});

it('begin a trace of their own without a valid traceparent, and keep the client’s decision not to record', async () => {
  const before = collector.spans.length;
  const [first, second] = await Promise.all(
    ['hello', `00-${'0'.repeat(31)}1-${CALLER}-00`].map((traceparent) =>
      client.post('/v1/invoices', invoiceFor('001525713000085'), { traceparent }),
    ),
  );
  const spanOf = (id: string) =>
    collector.spans.slice(before).find((span) => attributes(span)['fatoura.invoice.id'] === id);
  await expect.poll(() => spanOf(first?.body.id)?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect((await client.settled(second?.body.id)).status).toBe('accepted');
  await expect.poll(() => logged).toContain(`"traceId":"${'0'.repeat(31)}1"`);
  expect(spanOf(second?.body.id)).toBeUndefined();
});

it('are in the lines that a worker logs, with the ids of the invoice and its tenant', async () => {
  const { body } = await client.post('/v1/invoices', invoiceFor('999000000000781'));
  const line = () => logged.split('\n').find((each) => each.includes(body.id) && each.includes('signing failed'));
  await expect.poll(line).toBeTruthy();
  const { traceId, ...rest } = JSON.parse(line() ?? '{}');
  expect(rest).toMatchObject({ tenantId, invoiceId: body.id, stage: 'sign' });
  expect(rest.requestId).toBeUndefined();
  await expect
    .poll(() => collector.spans.filter((span) => span.traceId === traceId).map(({ name }) => name))
    .toContain('invoice sign');
});

it('are named by histograms, in the format that has exemplars', async () => {
  const credential = Buffer.from(`operator:${api.firstStart.operatorPassword}`).toString('base64');
  const headers = { Authorization: `Basic ${credential}` };
  const answer = await fetch(`${api.url}/metrics`, { headers });
  expect(answer.headers.get('content-type')).toContain('application/openmetrics-text');
  expect(await answer.text()).toMatch(
    /http_request_duration_seconds_bucket\{.*route="\/v1\/invoices".*\} \d+ # \{trace_id="[0-9a-f]{32}"\}/,
  );
  // A worker has no other server than the one of METRICS_PORT.
  const [, url = ''] = /metrics at (\S+)"/.exec(logged) ?? [];
  expect(await (await fetch(url, { headers })).text()).toMatch(
    /stage_duration_seconds_bucket\{.*stage="sign".*\} \d+ # \{trace_id="[0-9a-f]{32}"\}/,
  );
});
