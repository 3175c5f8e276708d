import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client, invoiceFor } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let secretKey: string;

beforeAll(async () => {
  service = await startService();
  ({ secretKey } = await service.tenant());
});
afterAll(() => service.close());

test.each(['/v1', '/graphql', '/graphql/stream'])(
  'a stream of %s on which nothing happens has a comment every 15 s, so that no proxy takes it for dead',
  async (protocol) => {
    const client = new Client(service.url, secretKey);
    // Its receipt takes a minute: until then the status stays.
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000878'));
    const query = encodeURIComponent(`subscription { invoiceStatus(id: "${body.id}") { status } }`);
    const path = protocol === '/v1' ? `/v1/invoices/${body.id}/stream` : `${protocol}?query=${query}`;
    const abort = new AbortController();
    const { body: stream } = await fetch(service.url + path, {
      headers: { Authorization: `Bearer ${body.client_secret}`, Accept: 'text/event-stream' },
      signal: abort.signal,
    });
    const start = Date.now();
    const beats: number[] = [];
    for await (const chunk of stream?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (chunk.startsWith(':\n\n')) beats.push(Math.round((Date.now() - start) / 1000));
      if (beats.length === 3) break;
    }
    abort.abort();
    // The first one opens the stream. The streams of a process share a timer, so the second comes within its period.
    const [first = 99, second = 99, third = 99] = beats;
    expect(first).toBeLessThanOrEqual(1);
    expect(second - first).toBeLessThanOrEqual(16);
    expect(third - second).toBeGreaterThanOrEqual(14);
    expect(third - second).toBeLessThanOrEqual(16);
  },
  90_000,
);

test('a reserved stream that nobody reads is over after a minute, with what it follows', async () => {
  const client = new Client(service.url, secretKey);
  const { body } = await client.post('/v1/invoices', invoiceFor('999000000000878'));
  const { body: token } = await client.request('PUT', '/graphql/stream');
  const operate = () =>
    client.post(
      `/graphql/stream?token=${token}`,
      {
        query: `subscription { invoiceStatus(id: "${body.id}") { status } }`,
        extensions: { operationId: '1' },
      },
      { Accept: 'application/json' },
    );
  expect((await operate()).status).toBe(202);
  expect(service.app.listeners()).toBe(1);
  await expect.poll(() => service.app.listeners(), { timeout: 90_000, interval: 1000 }).toBe(0);
  expect((await operate()).status).toBe(404);
}, 120_000);
