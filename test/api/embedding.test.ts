import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHECK_MS } from '../../src/domain/api-key/watch-revocations.ts';
import { soleKey } from '../../src/domain/data-keys.ts';
import { createEmbedTokens, type EmbedTokens } from '../../src/domain/embedding/embed-token.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

const SITE = 'https://shop.example.ma';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  const settings = { RATE_LIMIT_ADDRESS: '1000000', ALLOW_INSECURE_WEBHOOKS: 'true', RATE_LIMIT_PUBLISHABLE: '300' };
  [service, receiver] = await Promise.all([startService(settings), startReceiver()]);
  return () => Promise.all([service.close(), receiver.close()]);
});

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

/** A tenant with an endpoint and an invoice that was delivered to it. */
async function world() {
  const tenant = await service.tenant();
  const key = new Client(service.url, tenant.secretKey);
  const endpoint = await key.post('/v1/webhook_endpoints', {
    url: `${receiver.url}/secret-path`,
    events: ['invoice.accepted'],
  });
  const { body: invoice } = await key.post('/v1/invoices', invoiceBody());
  await key.settled(invoice.id);
  const made = async (call: string) => {
    const payload = `${call.charAt(0).toUpperCase()}${call.slice(1, call.indexOf('('))}Payload`;
    const fields = `... on ${payload} { embed { token url expiresAt } } ... on InvalidInputError { param }`;
    const { body } = await key.graphql(`mutation { made: ${call} { __typename ${fields} } }`);
    return body.data.made;
  };
  const origins = `origins: ["${SITE}"]`;
  return {
    tenant,
    key,
    made,
    invoiceId: invoice.id as string,
    endpointId: endpoint.body.id as string,
    ofInvoice: async () => (await made(`createInvoiceEmbed(id: "${invoice.id}", ${origins})`)).embed,
    ofLog: async () => (await made(`createDeliveryLogEmbed(endpointId: "${endpoint.body.id}", ${origins})`)).embed,
  };
}

const log = (token: string, query = '') => new Client(service.url, token).get(`/embed/api/deliveries${query}`);

describe('the page of an embedded invoice', () => {
  it('may be framed by the named sites and by nobody else; the token is in the fragment', async () => {
    const { ofInvoice, invoiceId } = await world();
    const { url, token } = await ofInvoice();
    const { pathname, hash } = new URL(url);
    expect(hash).toBe(`#${token}`);
    expect(pathname).toMatch(new RegExp(`^/embed/invoices/${invoiceId}/`));
    const page = await fetch(service.url + pathname);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(/; frame-ancestors https:\/\/shop\.example\.ma$/);
    expect(page.headers.get('x-frame-options')).toBeNull();
    // Whoever changes the list has no page.
    const [, , , id, frame = ''] = pathname.split('/');
    const others = Buffer.from(JSON.stringify(['https://evil.example'])).toString('base64url');
    for (const wrong of [`${others}${frame.slice(-32)}`, `x${frame}`, frame.slice(0, -1), 'x', 'x'.repeat(5000)]) {
      const answer = await fetch(`${service.url}/embed/invoices/${id}/${wrong}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
    const plain = await fetch(`${service.url}/i/${id}`);
    expect(plain.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(plain.headers.get('x-frame-options')).toBe('DENY');
  });

  it('has a token that reads this invoice, over REST and GraphQL, and nothing else', async () => {
    const { ofInvoice, invoiceId, key, endpointId } = await world();
    const { body: second } = await key.post('/v1/invoices', invoiceBody());
    const reader = new Client(service.url, (await ofInvoice()).token);
    expect((await reader.get(`/v1/invoices/${invoiceId}`)).body.id).toBe(invoiceId);
    const { body } = await reader.graphql(`{ invoice(id: "${invoiceId}") { status seller { legalName } } }`);
    expect(body.data.invoice).toEqual({ status: 'accepted', seller: null });
    expect(codeOf(await reader.get(`/v1/invoices/${second.id}`))).toEqual([403, 'insufficient_scope']);
    expect(codeOf(await reader.get('/v1/invoices'))).toEqual([403, 'insufficient_scope']);
    expect(codeOf(await reader.post('/v1/invoices', invoiceBody()))).toEqual([403, 'insufficient_scope']);
    const refused = await reader.graphql(`mutation { deleteWebhookEndpoint(id: "${endpointId}") { __typename } }`);
    expect(refused.body.errors[0].extensions.code).toBe('insufficient_scope');
    expect(codeOf(await log((await ofInvoice()).token))).toEqual([401, 'invalid_api_key']);
  });
});

describe('the stream of several invoices, for pages that share it', () => {
  const open = (invoices: unknown, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/embed/api/statuses`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ invoices }),
    });
  /** The data of its messages, to its end. */
  const all = async (response: Response) =>
    [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));

  it('tells of each by its place, from the event that its page knows; a token that opens nothing is refused alone', async () => {
    const { key, ofInvoice, invoiceId } = await world();
    const { body: other } = await key.post('/v1/invoices', invoiceFor('999000000000490'));
    const { token } = await ofInvoice();
    const stored = await service.app.store.db.collection('invoices').findOne({ _id: invoiceId as never });
    const [first, second, last]: string[] = (stored?.events ?? []).map(({ id }: { id: string }) => id);
    const response = await open([
      { id: invoiceId, token, after: null },
      { id: other.id, token: other.client_secret, after: null },
      { id: invoiceId, token: other.client_secret, after: null },
      { id: invoiceId, token, after: first },
      { id: invoiceId, token, after: last },
      { id: invoiceId, token: key ? 'nothing' : '', after: null },
    ]);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
    const news = await all(response);
    const of = (n: number) => news.filter((each) => each.n === n).map(({ n: _, ...rest }) => rest);
    expect(of(0)).toEqual([{ eventId: last, status: 'accepted' }]);
    expect(of(1).at(-1)).toEqual({ eventId: expect.stringMatching(/^evt_/), status: 'accepted' });
    expect(of(2)).toEqual([{ refused: true }]);
    expect(of(3).map(({ eventId }) => eventId)).toEqual([second, last]);
    expect(of(4)).toEqual([]);
    expect(of(5)).toEqual([{ refused: true }]);
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('opens nothing for keys, for no valid token, and for what is no list', async () => {
    const { invoiceId, tenant } = await world();
    const { body: theirs } = await new Client(service.url, (await service.tenant()).secretKey).post(
      '/v1/invoices',
      invoiceBody(),
    );
    for (const token of [tenant.secretKey, tenant.publishableKey, theirs.client_secret, '', `${invoiceId}_secret_x`])
      expect((await open([{ id: invoiceId, token, after: null }])).status).toBe(401);
    const valid = { id: theirs.id, token: theirs.client_secret, after: null };
    for (const wrong of [[], null, [{ ...valid, more: 1 }], [{ ...valid, id: 1 }], Array(101).fill(valid)])
      expect((await open(wrong)).status).toBe(400);
    expect((await open([{ ...valid, token: 'x'.repeat(70_000) }])).status).toBe(413);
    expect((await open([valid], { 'Content-Type': 'text/plain' })).status).toBe(415);
    expect((await open(Array(100).fill(valid))).status).toBe(200);
  });

  it('ends for an invoice when its token does, and goes on for the others', async () => {
    const { key, tenant } = await world();
    const [one, two] = await Promise.all([0, 1].map(() => key.post('/v1/invoices', invoiceFor('999000000000878'))));
    const masterKey = service.app.keys.data;
    const grant = { tenantId: tenant.id, environment: 'test', subject: one?.body.id } as const;
    const token = createEmbedTokens(masterKey).issue({
      ...grant,
      kind: 'invoice',
      expiresAt: new Date((Math.floor(Date.now() / 1000) + 3) * 1000),
    });
    const response = await open([
      { id: one?.body.id, token, after: null },
      { id: two?.body.id, token: two?.body.client_secret, after: null },
    ]);
    await expectRefusedAlone(response);
  });

  /** Reads the stream until its first invoice is refused, and expects that it does not end then. */
  async function expectRefusedAlone(response: Response): Promise<void> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('refused')) {
      const { value, done } = await reader.read();
      expect(done).toBe(false);
      text += value;
    }
    expect(text).toContain('data: {"n":0,"refused":true}');
    let isOver = false;
    void (async () => {
      while (!(await reader.read()).done);
      isOver = true;
    })().catch(() => undefined);
    // The end would be sent in the same turn.
    await sleep(500);
    expect(isOver).toBe(false);
    await reader.cancel();
    await expect.poll(() => service.app.listeners()).toBe(0);
  }

  /** The messages of a stream until it has told each of these. */
  const until = async (response: Response, ...parts: string[]) => {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (parts.every((part) => text.includes(part))) break;
    }
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  };

  it('answers for a token whose limit is used up alone, and goes on for the others', async () => {
    const { key } = await world();
    const [one, two] = await Promise.all([0, 1].map(() => key.post('/v1/invoices', invoiceFor('999000000000878'))));
    const entries = [one, two].map((each) => ({ id: each?.body.id, token: each?.body.client_secret, after: null }));
    for (let i = 0; i < 3; i++) await (await open(Array(100).fill(entries[0]))).body?.cancel();
    const response = await open(entries);
    expect(response.status).toBe(200);
    const news = await until(response, '{"n":0,"later"', '{"n":1,"eventId"');
    const later = news.find(({ n }) => n === 0).later;
    expect(later).toBeGreaterThanOrEqual(1);
    expect(later).toBeLessThanOrEqual(60);
    expect(news.find(({ n }) => n === 1)).toMatchObject({ eventId: expect.stringMatching(/^evt_/) });
    // Where none can be followed, the answer is that of every limit.
    const refused = await open([entries[0], { ...entries[0], token: 'emb_x' }]);
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([
      429,
      expect.toSatisfy((s) => s >= 1),
    ]);
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  it('does not need that the first of its tokens may have a further stream', async () => {
    const { key } = await world();
    const [one, two] = await Promise.all([0, 1].map(() => key.post('/v1/invoices', invoiceFor('999000000000878'))));
    const entries = [one, two].map((each) => ({ id: each?.body.id, token: each?.body.client_secret, after: null }));
    const others = await Promise.all(Array.from({ length: 100 }, () => open([entries[0]])));
    expect((await open([entries[0]])).status).toBe(429);
    const shared = await open(entries);
    expect(shared.status).toBe(200);
    for (const each of [shared, ...others]) await each.body?.cancel();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });

  testLong('refuses an invoice whose tenant is erased meanwhile, and goes on for the others', async () => {
    const [mine, theirs] = [await world(), await world()];
    const [one, two] = await Promise.all(
      [mine, theirs].map(({ key }) => key.post('/v1/invoices', invoiceFor('999000000000878'))),
    );
    const response = await open(
      [one, two].map((each) => ({ id: each?.body.id, token: each?.body.client_secret, after: null })),
    );
    const invoices = service.app.store.db.collection<{ _id: string }>('invoices');
    await invoices.updateOne({ _id: one?.body.id }, { $set: { withheld: new Date() } });
    await expectRefusedAlone(response);
  });

  it('refuses an invoice as soon as the erasure of its tenant begins, and goes on for the others', async () => {
    const [mine, theirs] = [await world(), await world()];
    const [one, two] = await Promise.all(
      [mine, theirs].map(({ key }) => key.post('/v1/invoices', invoiceFor('999000000000878'))),
    );
    const entries = [one, two].map((each) => ({ id: each?.body.id, token: each?.body.client_secret, after: null }));
    const response = await open(entries);
    const erasures = createErasureStore(service.app.store.db);
    expect(await erasures.begin(mine.tenant.id, new Date())).not.toBeNull();
    await expectRefusedAlone(response);
  });

  testLong('counts for the limit of each token, and of the address', async () => {
    const { body: invoice } = await (await world()).key.post('/v1/invoices', invoiceBody());
    const entry = { id: invoice.id, token: invoice.client_secret, after: null };
    const statuses: number[] = [];
    // One after the other: of two at once, each may take a part of what is left of the limit.
    for (let nth = 0; nth < 4; nth++) statuses.push((await open(Array(100).fill(entry))).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    await expect.poll(() => service.app.listeners()).toBe(0);
  });
});

describe('the log of deliveries of an embedded page', () => {
  it('shows this endpoint’s deliveries with attempts, and no URL, header, body or invoice', async () => {
    const { ofLog, key, endpointId } = await world();
    await key.post('/v1/webhook_endpoints', { url: `${receiver.url}/other`, events: ['invoice.accepted'] });
    const { token } = await ofLog();
    await expect.poll(async () => (await log(token)).body.deliveries?.[0]?.state).toBe('delivered');
    const answer = await log(token);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      hasMore: false,
      deliveries: [
        {
          id: expect.stringContaining(endpointId.slice(3)),
          eventType: 'invoice.accepted',
          state: 'delivered',
          createdAt: expect.any(String),
          nextAttemptAt: null,
          attempts: [{ at: expect.any(String), status: 200, latencyMs: expect.any(Number), failure: null }],
        },
      ],
    });
    // Neither is the token a credential of the API.
    expect(codeOf(await new Client(service.url, token).get('/v1/invoices'))).toEqual([401, 'invalid_api_key']);
    expect(codeOf(await new Client(service.url, token).post('/graphql', { query: '{ __typename }' }))).toEqual([
      401,
      'invalid_api_key',
    ]);
  });

  it('goes on page by page within its endpoint', async () => {
    const { ofLog, key, endpointId, tenant } = await world();
    const { token } = await ofLog();
    await expect.poll(async () => (await log(token)).body.deliveries?.[0]?.state).toBe('delivered');
    const [row] = (await log(token)).body.deliveries;
    const deliveries = service.app.store.db.collection<{ _id: string; order: string }>('webhook_deliveries');
    const stored = await deliveries.findOne({ _id: row.id });
    const older = Array.from({ length: 30 }, (_, n) => ({
      ...stored,
      _id: `${row.id.slice(0, -3)}_${String(n + 10)}`,
      order: `0${String(n).padStart(2, '0')}`,
      attempts: [],
    }));
    await deliveries.insertMany(older as never);
    const first = (await log(token)).body;
    expect([first.deliveries.length, first.hasMore]).toEqual([25, true]);
    const second = (await log(token, `?after=${first.deliveries.at(-1).id}`)).body;
    expect([second.deliveries.length, second.hasMore]).toEqual([6, false]);
    expect(new Set([...first.deliveries, ...second.deliveries].map(({ id }) => id)).size).toBe(31);
    // A cursor of another endpoint of the same tenant is none.
    const other = await key.post('/v1/webhook_endpoints', { url: `${receiver.url}/b`, events: ['invoice.accepted'] });
    const foreign = { ...stored, _id: 'dlv_foreign', endpointId: other.body.id, tenantId: tenant.id };
    await deliveries.insertOne(foreign as never);
    expect(endpointId).not.toBe(other.body.id);
    for (const query of ['?after=dlv_foreign', '?after=x', '?after=a&after=b', '?first=5'])
      expect(codeOf(await log(token, query)), query).toEqual([400, 'invalid_request']);
  });
});

describe('a token of an embedded page', () => {
  let tokens: EmbedTokens;
  let tenantId: string;
  /** What the tests share that make nothing of it. */
  let sample: ReturnType<typeof world> | null = null;
  beforeAll(async () => {
    tokens = createEmbedTokens(service.app.keys.data);
    tenantId = (await service.tenant()).id;
  });
  const grant = (changes: object) => ({
    kind: 'deliveries' as const,
    tenantId,
    environment: 'test' as const,
    expiresAt: new Date(Date.now() + 60_000),
    subject: 'we_00000000-0000-4000-8000-000000000000',
    ...changes,
  });

  it('that is forged, changed, of another key or over is refused', async () => {
    const good = tokens.issue(grant({}));
    expect((await log(good)).status).toBe(200);
    const other = createEmbedTokens(soleKey(Buffer.from('cd'.repeat(32), 'hex')));
    const changed = `${good.slice(0, 20)}${good[20] === 'A' ? 'B' : 'A'}${good.slice(21)}`;
    const wrong = [
      other.issue(grant({})),
      changed,
      `emb_${tokens.frameOf(['deliveries', tenantId, 'test'])}`,
      tokens.issue(grant({ expiresAt: new Date(Date.now() - 1000) })),
      // Of no tenant, as after its erasure.
      tokens.issue(grant({ tenantId: 'ten_x' })),
      tokens.issue(grant({ kind: 'x' })),
      tokens.issue(grant({ environment: 'x' })),
      tokens.issue(grant({ subject: 'inv_00000000-0000-4000-8000-000000000000' })),
      'emb_',
      'emb_x',
      `emb_${'x'.repeat(5000)}`,
    ];
    for (const token of wrong) {
      expect(codeOf(await log(token)), token).toEqual([401, 'invalid_api_key']);
      expect(codeOf(await new Client(service.url, token).get('/v1/invoices/inv_x'))).toEqual([401, 'invalid_api_key']);
    }
  });

  it('ends its streams, too', async () => {
    const { tenant, key } = await world();
    const { body } = await key.post('/v1/invoices', invoiceFor(SLOW_CUSTOMER));
    // Nothing else ends the stream.
    await holdDecision(service, body.id);
    const expiresAt = new Date((Math.floor(Date.now() / 1000) + 3) * 1000);
    const token = tokens.issue({
      kind: 'invoice',
      tenantId: tenant.id,
      environment: 'test',
      subject: body.id,
      expiresAt,
    });
    const response = await fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    for await (const _ of response.body as ReadableStream);
    expect(Date.now() - expiresAt.getTime()).toBeGreaterThan(-100);
    // The margin beyond CHECK_MS is for a slow machine.
    expect(Date.now() - expiresAt.getTime()).toBeLessThan(CHECK_MS * 2 + 20_000);
  });

  it.each([
    ['origins: []', 'origins'],
    ['origins: ["https://shop.example/path"]', 'origins[0]'],
    ['origins: ["https://shop.example", "*"]', 'origins[1]'],
    ['origins: ["https://*.example"]', 'origins[0]'],
    ['origins: ["https://shop.example; script-src *"]', 'origins[0]'],
    ['origins: ["https://a;sandbox"]', 'origins[0]'],
    ['origins: ["http://shop.example"]', 'origins[0]'],
    ['origins: ["HTTPS://shop.example"]', 'origins[0]'],
    ['origins: ["null"]', 'origins[0]'],
    ['origins: ["https://a.example"], seconds: 59', 'seconds'],
    ['origins: ["https://a.example"], seconds: 3601', 'seconds'],
    ['origins: ["https://a.example"], accent: "red"', 'accent'],
    ['origins: ["https://a.example"], accent: "#0b5d4"', 'accent'],
    ['origins: ["https://a.example"], accent: "#0b5d45;}*{display:none"', 'accent'],
    ['origins: ["https://a.example"], accent: ""', 'accent'],
  ])('is not made with %s', async (input, param) => {
    sample ??= world();
    const { made, invoiceId } = await sample;
    expect(await made(`createInvoiceEmbed(id: "${invoiceId}", ${input})`)).toMatchObject({
      __typename: 'InvalidInputError',
      param,
    });
  });

  it('is for a page whose language, font and accent are in its address, where they are chosen', async () => {
    sample ??= world();
    const { made, invoiceId, endpointId } = await sample;
    const searchOf = async (call: string) => new URL((await made(call)).embed.url).search;
    const site = 'origins: ["https://a.example"]';
    expect(await searchOf(`createInvoiceEmbed(id: "${invoiceId}", ${site})`)).toBe('');
    const all = 'language: ar, font: serif, accent: "#0B5D45"';
    const expected = '?lang=ar&font=serif&accent=0b5d45';
    expect(await searchOf(`createInvoiceEmbed(id: "${invoiceId}", ${site}, ${all})`)).toBe(expected);
    expect(await searchOf(`createDeliveryLogEmbed(endpointId: "${endpointId}", ${site}, ${all})`)).toBe(expected);
  });

  it('may name the developer’s own machine in test', async () => {
    sample ??= world();
    const { made, invoiceId } = await sample;
    const { embed } = await made(
      `createInvoiceEmbed(id: "${invoiceId}", origins: ["http://localhost:5173"], seconds: 60)`,
    );
    const seconds = (Date.parse(embed.expiresAt) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(60);
  });
});
