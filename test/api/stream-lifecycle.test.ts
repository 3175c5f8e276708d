import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECK_MS } from '../../src/domain/api-key/watch-revocations.ts';
import { Client, invoiceFor } from '../support/client.ts';
import { EventReader } from '../support/event-stream.ts';
import { startService, type TestService } from '../support/service.ts';

/** How the service ends streams, in each of the three protocols. */
let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const PROTOCOLS = ['/v1', '/graphql', '/graphql/stream'] as const;

/** Follows an invoice that stays `signing` for a minute. */
function follow(url: string, protocol: (typeof PROTOCOLS)[number], invoiceId: string, key: string): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, Accept: 'text/event-stream' };
  if (protocol === '/v1') return fetch(`${url}/v1/invoices/${invoiceId}/stream`, { headers });
  return fetch(url + protocol, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: `subscription { invoiceStatus(id: "${invoiceId}") { status } }` }),
  });
}

it('streams end when their key is revoked, in each protocol, and cannot be reopened', async () => {
  const { id, secretKey } = await service.tenant();
  const { key, token } = await service.app.manageKeys.create(id, 'secret', 'test');
  const { body } = await new Client(service.url, secretKey).post('/v1/invoices', invoiceFor('999000000000878'));
  const opened = (credential: string) =>
    Promise.all(
      PROTOCOLS.map(async (protocol) => {
        const reader = new EventReader(await follow(service.url, protocol, body.id, credential));
        await reader.next();
        return reader;
      }),
    );
  const [revoked, others] = await Promise.all([opened(token), opened(secretKey)]);
  const put = { method: 'PUT', headers: { Authorization: `Bearer ${token}` } };
  const reserved = await (await fetch(`${service.url}/graphql/stream`, put)).text();
  const start = Date.now();
  await service.app.manageKeys.revoke(key.id);
  const rest = await Promise.all(revoked.map((reader) => reader.all()));
  // Much earlier than the end of the invoice. The margin beyond CHECK_MS is for a slow machine.
  expect(Date.now() - start).toBeLessThan(CHECK_MS * 2 + 20_000);
  // The streams are aborted, not completed: a client that reconnects learns the reason.
  expect(rest.flat().filter(({ event }) => event === 'complete')).toEqual([]);
  for (const protocol of PROTOCOLS) {
    const again = await follow(service.url, protocol, body.id, token);
    expect(again.status).toBe(401);
    expect(await again.text()).toContain('api_key_revoked');
  }
  // A reserved stream that is not open yet ends with its key.
  const ticket = { headers: { Accept: 'text/event-stream' } };
  const late = await fetch(`${service.url}/graphql/stream?token=${reserved}`, ticket);
  expect(late.status).toBe(404);
  await late.text();
  await expect.poll(() => service.app.listeners()).toBe(PROTOCOLS.length);
  for (const other of others) await other.close();
  await expect.poll(() => service.app.listeners()).toBe(0);
});

describe.each(PROTOCOLS)('a stream of %s', (protocol) => {
  it('ends properly when the service stops, and says when to reconnect', async () => {
    const stopping = await startService();
    const { secretKey } = await stopping.tenant();
    const { body } = await new Client(stopping.url, secretKey).post('/v1/invoices', invoiceFor('999000000000878'));
    const reader = new EventReader(await follow(stopping.url, protocol, body.id, secretKey));
    await reader.next();
    const closing = stopping.close();
    // An aborted connection would throw.
    expect((await reader.all()).filter(({ event }) => event === 'complete')).toEqual([]);
    expect(reader.retry).toBeGreaterThan(0);
    await closing;
    expect(stopping.app.listeners()).toBe(0);
  });
});

it('releases its resources when clients that follow all events disconnect at any moment', async () => {
  const { secretKey } = await service.tenant();
  const { hostname, port } = new URL(service.url);
  const query = encodeURIComponent('subscription { invoiceEvents { cursor } }');
  for (const path of [`/graphql?query=${query}`, `/graphql/stream?query=${query}`]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${secretKey}\r\n\r\n`;
    for (let i = 0; i < 60; i++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(request, () => setTimeout(() => socket.destroy(), i % 12));
    }
    await sleep(300);
    await expect.poll(() => service.app.listeners(), { message: path }).toBe(0);
  }
});

it('a subscription without a media type for streams in Accept releases its resources', async () => {
  const { secretKey } = await service.tenant();
  const refused = await fetch(`${service.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify({ query: 'subscription { invoiceEvents { cursor } }' }),
  });
  expect(refused.status).toBe(406);
  await refused.body?.cancel();
  await expect.poll(() => service.app.listeners()).toBe(0);
});
