import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client, invoiceBody, invoiceFor, type Message, messagesOf } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

beforeAll(async () => {
  service = await startService();
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});
afterAll(() => service.close());

function open(id: string, token: string, headers: Record<string, string> = {}, query = ''): Promise<Response> {
  return fetch(`${service.url}/v1/invoices/${id}/stream${query}`, {
    headers: { Authorization: `Bearer ${token}`, ...headers },
  });
}

async function all(response: Response): Promise<Message[]> {
  return Array.fromAsync(messagesOf(response));
}

describe('GET /v1/invoices/:id/stream', () => {
  it('sends each change once and in order, and closes after the last', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor(SLOW_CUSTOMER));
    const decide = await holdDecision(service, body.id);
    const response = await open(body.id, body.client_secret);
    await decide();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toContain('no-transform');
    const messages = await all(response);
    expect(messages.map(({ data }) => data.status)).toEqual(['signing', 'transmitted', 'accepted']);
    expect(messages.at(-1)?.data).toEqual({
      id: body.id,
      object: 'invoice',
      status: 'accepted',
      dgi_id: expect.any(String),
      rejection_reason: null,
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
    for (const { id } of messages) expect(id).toMatch(/^evt_/);
  });

  it('sends the current status of a settled invoice, and closes', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000102'));
    const settled = await client.settled(body.id);
    const messages = await all(await open(body.id, tenant.secretKey));
    expect(messages.map(({ data }) => data)).toEqual([
      {
        id: body.id,
        object: 'invoice',
        status: 'rejected',
        dgi_id: null,
        rejection_reason: settled.rejection_reason,
        updated_at: settled.updated_at,
      },
    ]);
  });

  it('resumes after Last-Event-ID, and answers 204 if no message remains', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    await client.settled(body.id);
    const stored = await service.app.store.db.collection('invoices').findOne({ _id: body.id });
    const events: { id: string; status: string }[] = stored?.events;
    expect(events.map(({ status }) => status)).toEqual(['signing', 'transmitted', 'accepted']);
    const resumed = await all(await open(body.id, body.client_secret, { 'Last-Event-ID': events[0]?.id ?? '' }));
    expect(resumed.map(({ id }) => id)).toEqual(events.slice(1).map(({ id }) => id));
    const over = await open(body.id, body.client_secret, { 'Last-Event-ID': events[2]?.id ?? '' });
    expect([over.status, await over.text()]).toEqual([204, '']);
    const unknown = await all(await open(body.id, body.client_secret, { 'Last-Event-ID': 'evt_unknown' }));
    expect(unknown.map(({ data }) => data.status)).toEqual(['accepted']);
  });

  it('can be read with a publishable key and the client_secret', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const query = `?client_secret=${body.client_secret}`;
    const messages = await all(await open(body.id, tenant.publishableKey, {}, query));
    expect(messages.at(-1)?.data.status).toBe('accepted');
    expect((await open(body.id, tenant.publishableKey)).status).toBe(403);
  });

  describe('for a browser’s EventSource, which can send no header', () => {
    const at = (id: string, query: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(`${service.url}/v1/invoices/${id}/stream?${new URLSearchParams(query)}`, { headers });
    const verdict = async (response: Response) =>
      response.ok ? response.status : [response.status, (await response.json()).error.code];
    let invoice: { id: string; client_secret: string };

    beforeAll(async () => {
      invoice = (await client.post('/v1/invoices', invoiceBody())).body;
      await client.settled(invoice.id);
    });

    it('takes the client_secret from the query, alone or with a publishable key', async () => {
      const { id, client_secret } = invoice;
      for (const more of [{}, { publishable_key: tenant.publishableKey }]) {
        const response = await at(id, { client_secret, ...more }, { Origin: 'https://shop.example' });
        expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
        expect((await all(response)).at(-1)?.data.status).toBe('accepted');
      }
    });

    it('refuses there what it refuses in the header, and keys that can do more', async () => {
      const { id, client_secret } = invoice;
      const stranger = await service.tenant();
      const { key, token } = await service.app.manageKeys.create(tenant.id, 'publishable', 'test');
      await service.app.manageKeys.revoke(key.id);
      for (const [query, answer] of [
        [{}, [401, 'invalid_api_key']],
        [{ client_secret: '' }, [401, 'invalid_api_key']],
        [{ client_secret: tenant.secretKey }, [401, 'invalid_api_key']],
        [{ client_secret: `${id}_secret_${'A'.repeat(32)}` }, [401, 'invalid_api_key']],
        [{ client_secret, publishable_key: tenant.secretKey }, [401, 'invalid_api_key']],
        [{ client_secret, publishable_key: client_secret }, [401, 'invalid_api_key']],
        [{ client_secret, publishable_key: '' }, [401, 'invalid_api_key']],
        [{ client_secret, publishable_key: token }, [401, 'api_key_revoked']],
        [{ client_secret, publishable_key: stranger.publishableKey }, [403, 'insufficient_scope']],
        [{ publishable_key: tenant.publishableKey }, [403, 'insufficient_scope']],
        [{ client_secret, key: tenant.publishableKey }, [400, 'invalid_request']],
      ] as [Record<string, string>, unknown][])
        expect([query, await verdict(await at(id, query))]).toEqual([query, answer]);
      // On no other path.
      const query = new URLSearchParams({ client_secret });
      for (const path of [`/v1/invoices/${id}`, `/v1/invoices/${id}/stream/`, '/v1/invoices', '/graphql/stream'])
        expect([path, (await fetch(`${service.url}${path}?${query}`)).status]).toEqual([path, 401]);
    });

    it('prefers the header', async () => {
      const { id, client_secret } = invoice;
      expect(await verdict(await at(id, { client_secret }, { Authorization: 'Bearer nobody' }))).toEqual([
        401,
        'invalid_api_key',
      ]);
      expect(await verdict(await at(id, { client_secret }, { Authorization: 'Basic x' }))).toEqual([
        401,
        'invalid_api_key',
      ]);
    });

    it('resumes after lastEventId, which polyfills send; the header wins', async () => {
      const { id, client_secret } = invoice;
      const stored = await service.app.store.db.collection('invoices').findOne({ _id: id as never });
      const [first, second, last]: string[] = (stored?.events ?? []).map((event: { id: string }) => event.id);
      const resumed = await all(await at(id, { client_secret, lastEventId: first ?? '' }));
      expect(resumed.map((message) => message.id)).toEqual([second, last]);
      expect((await at(id, { client_secret, lastEventId: last ?? '' })).status).toBe(204);
      const both = await all(
        await at(id, { client_secret, lastEventId: last ?? '' }, { 'Last-Event-ID': second ?? '' }),
      );
      expect(both.map((message) => message.id)).toEqual([last]);
      expect((await all(await at(id, { client_secret, lastEventId: '' }))).map((message) => message.id)).toEqual([
        last,
      ]);
      const twice = await fetch(
        `${service.url}/v1/invoices/${id}/stream?client_secret=${client_secret}&lastEventId=a&lastEventId=b`,
      );
      expect([twice.status, (await twice.json()).error.param]).toEqual([400, 'lastEventId']);
    });
  });

  it('answers errors as JSON, not as a stream', async () => {
    const first = (await client.post('/v1/invoices', invoiceBody())).body;
    const second = (await client.post('/v1/invoices', invoiceBody())).body;
    const stranger = (await service.tenant()).secretKey;
    for (const [id, token, status] of [
      [second.id, first.client_secret, 403],
      [first.id, stranger, 404],
      [first.id, 'nobody', 401],
    ] as const) {
      const response = await open(id, token);
      expect(response.status).toBe(status);
      expect((await response.json()).error.status).toBe(status);
    }
  });

  it('names no event type, so that a browser’s onmessage gets every message; each message id is an event id', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    await client.settled(body.id);
    const text = await (await open(body.id, body.client_secret, { 'Last-Event-ID': 'evt_unknown' })).text();
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith(':'));
    expect(lines.map((line) => line.split(':')[0])).toEqual(['id', 'data']);
  });

  it('400: an unknown query parameter', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const response = await open(body.id, body.client_secret, {}, '?after=x');
    expect([response.status, (await response.json()).error.param]).toEqual([400, 'after']);
  });

  it('makes a browser’s EventSource stop reconnecting after the end', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const statuses: string[] = [];
    const source = new EventSource(`${service.url}/v1/invoices/${body.id}/stream`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${body.client_secret}` } }),
    });
    await new Promise<void>((resolve, reject) => {
      source.addEventListener('message', ({ data }) => statuses.push(JSON.parse(data).status));
      // After the normal end EventSource reconnects with Last-Event-ID, and the 204 closes it permanently.
      source.addEventListener('error', () => source.readyState === EventSource.CLOSED && resolve());
      setTimeout(reject, 50_000, new Error('the EventSource goes on')).unref();
    });
    expect(statuses.at(-1)).toBe('accepted');
    expect(new Set(statuses).size).toBe(statuses.length);
  });

  it('answers HEAD without opening a stream', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000393'));
    await expect.poll(() => service.app.listeners()).toBe(0);
    const answer = await fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${body.client_secret}` },
      signal: AbortSignal.timeout(30_000),
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(service.app.listeners()).toBe(0);
  });

  it('releases its resources when clients disconnect before it is open, in each of the three protocols', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000878'));
    const query = encodeURIComponent(`subscription { invoiceStatus(id: "${body.id}") { status } }`);
    const { hostname, port } = new URL(service.url);
    for (const path of [
      `/v1/invoices/${body.id}/stream`,
      `/graphql?query=${query}`,
      `/graphql/stream?query=${query}`,
    ]) {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${body.client_secret}\r\n\r\n`;
      for (let i = 0; i < 60; i++) {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        socket.write(request, () => setTimeout(() => socket.destroy(), i % 4));
      }
      await sleep(300);
      await expect.poll(() => service.app.listeners(), { message: path }).toBe(0);
    }
  });

  it('releases its resources when clients disconnect', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000878'));
    const aborts = Array.from({ length: 20 }, () => new AbortController());
    await Promise.all(
      aborts.map(({ signal }) =>
        fetch(`${service.url}/v1/invoices/${body.id}/stream`, {
          headers: { Authorization: `Bearer ${body.client_secret}` },
          signal,
        }),
      ),
    );
    await expect.poll(() => service.app.listeners()).toBe(20);
    for (const abort of aborts) abort.abort();
    await expect.poll(() => service.app.listeners()).toBe(0);
  });
});
