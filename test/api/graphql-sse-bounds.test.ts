import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MAX_OPERATIONS } from '../../src/transport/graphql-sse.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { EventReader } from '../support/event-stream.ts';
import { firstOf, sampled, testLong } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

/** What operations in graphql-sse's single connection mode may take while their results are not read. */
let service: TestService;
let secretKey: string;

beforeAll(async () => {
  service = await startService();
  ({ secretKey } = await service.tenant());
});
afterAll(() => service.close());

const CREATE =
  'mutation { createInvoice(input: { amount: 12000, currency: "MAD", customer: { ice: "001234567000062", name: "Atlas" }, lines: [{ description: "Conseil", quantity: 1, unitPrice: 10000 }] }) { __typename } }';

function call(
  method: string,
  token: string | null,
  query = '',
  body?: unknown,
  credential = secretKey,
  signal: AbortSignal | null = null,
) {
  return fetch(`${service.url}/graphql/stream${query}`, {
    method,
    signal,
    headers: {
      Authorization: `Bearer ${credential}`,
      ...(token !== null && { 'X-GraphQL-Event-Stream-Token': token }),
      ...(method === 'GET' ? { Accept: 'text/event-stream' } : { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
}
const reserve = async (credential?: string) => (await call('PUT', null, '', undefined, credential)).text();
const operate = async (token: string, operationId: unknown, body: object, credential?: string) => {
  const response = await call('POST', token, '', { ...body, extensions: { operationId } }, credential);
  return [response.status, await response.text()] as const;
};

/** Bytes of the heap that are in use. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

async function invoices(): Promise<number> {
  const { body } = await new Client(service.url, secretKey).post('/graphql', {
    query: '{ invoices(first: 100) { edges { cursor } } }',
  });
  return body.data.invoices.edges.length;
}

it('a client_secret keeps no results of a stream that it never opens', async () => {
  const { body } = await new Client(service.url, secretKey).post('/v1/invoices', invoiceBody());
  const token = await reserve(body.client_secret);
  const query = getIntrospectionQuery();
  const before = heapUsed();
  for (let nth = 0; nth < MAX_OPERATIONS; nth++)
    expect(await operate(token, `op${nth}`, { query }, body.client_secret)).toEqual([202, '']);
  // A result takes 1 MB or more.
  expect(heapUsed() - before).toBeLessThan(MAX_OPERATIONS * 200_000);
});

it('an operation runs when its stream is open, in the order of arrival, and not at all if it was stopped', async () => {
  const before = await invoices();
  const token = await reserve();
  for (const id of ['one', 'two', 'three']) expect(await operate(token, id, { query: CREATE })).toEqual([202, '']);
  expect((await call('DELETE', token, '?operationId=two')).status).toBe(200);
  expect(await invoices()).toBe(before);
  const reader = new EventReader(await call('GET', token));
  const told: string[] = [];
  while (told.length < 5) {
    const message = await reader.next();
    if (!message) break;
    told.push(`${message.event} ${JSON.parse(message.data).id}`);
  }
  expect(told).toEqual(['next one', 'complete one', 'complete two', 'next three', 'complete three']);
  expect(await invoices()).toBe(before + 2);
  await reader.close();
});

it('an operation that waited does only what its caller may do by then', async () => {
  const other = await service.tenant();
  const token = await reserve(other.secretKey);
  expect(await operate(token, 'one', { query: CREATE }, other.secretKey)).toEqual([202, '']);
  await service.app.tenants.setSuspended(other.id, new Date());
  const reader = new EventReader(await call('GET', token, '', undefined, other.secretKey));
  const message = await reader.next();
  expect(JSON.parse(message?.data ?? '').payload.errors).toMatchObject([{ extensions: { code: 'tenant_suspended' } }]);
  await reader.close();
  expect(await service.app.store.db.collection('invoices').countDocuments({ tenantId: other.id })).toBe(0);
});

it('the requests of operations that wait are bounded together: beyond, the oldest stream of most of them ends', async () => {
  const tokens = [await reserve(), await reserve()] as const;
  // Counted with eight times its length.
  const variables = { after: 'x'.repeat(900_000) };
  const query = 'query ($after: String) { invoices(after: $after) { edges { cursor } } }';
  for (const token of tokens)
    for (let nth = 0; nth < 6; nth++) {
      const [status] = await operate(token, `op${nth}`, { query, variables });
      expect(status).toBe(202);
    }
  await expect.poll(async () => (await operate(tokens[0], 'more', { query }))[0]).toBe(404);
  expect((await operate(tokens[1], 'more', { query }))[0]).toBe(202);
  await (await call('GET', tokens[1])).body?.cancel();
});

describe('the documents of running subscriptions', () => {
  /** One of 490 fields and 3,930 tokens, which take 1.6 MB. */
  const documentOf = (nth: number) =>
    `subscription S${nth} { invoiceEvents { event { ${'id @skip(if: false) '.repeat(490)} } } }`;

  let gone = new AbortController();
  afterEach(() => {
    gone.abort();
    gone = new AbortController();
  });

  async function follow(
    mode: 'single' | 'distinct' | 'yoga',
    credential: string,
    nth: number,
    query = documentOf(nth),
  ) {
    const { signal } = gone;
    if (mode === 'single') {
      const token = await reserve(credential);
      const reader = new EventReader(await call('GET', token, '', undefined, credential, signal));
      expect(await operate(token, 'one', { query }, credential)).toEqual([202, '']);
      return reader;
    }
    const headers = {
      Authorization: `Bearer ${credential}`,
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
    };
    const path = mode === 'yoga' ? '/graphql' : '/graphql/stream';
    return new EventReader(
      await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify({ query }), signal }),
    );
  }

  /** How each of these streams, or the only operation on it, has ended: the list changes as they end. */
  function endsOf(readers: readonly EventReader[]): string[] {
    const ends = readers.map(() => 'open');
    for (const [nth, reader] of readers.entries())
      void (async () => {
        while (ends[nth] === 'open') {
          const message = await reader.next().catch(() => null);
          if (message?.event !== 'next') ends[nth] = message?.event ?? 'reset';
        }
      })();
    return ends;
  }

  it.each(firstOf(['distinct', 'single', 'yoga']))(
    'are bounded together: beyond, the oldest subscriptions of whoever has most of them end (%s)',
    async (mode) => {
      const [hostile, other] = [await service.tenant(), await service.tenant()];
      const start = mode.length * 1000;
      const neighbour = await follow(mode, other.secretKey, start);
      const before = heapUsed();
      const readers: EventReader[] = [];
      for (let nth = 1; nth <= 50; nth++) readers.push(await follow(mode, hostile.secretKey, start + nth));
      // 64 MiB of what clients hold, and the cache of documents.
      expect(heapUsed() - before).toBeLessThan(100_000_000);
      const [over, neighbours] = [endsOf(readers), endsOf([neighbour])];
      const areOldest = () => {
        const first = over.indexOf('open');
        return first > 5 && over.slice(first).every((end) => end === 'open');
      };
      await expect.poll(areOldest).toBe(true);
      // No other one ends after them.
      await setTimeout(300);
      expect([areOldest(), neighbours]).toEqual([true, ['open']]);
      gone.abort();
      gone = new AbortController();
      await expect.poll(() => service.app.listeners()).toBe(0);
      // What has ended counts no more.
      const later: EventReader[] = [];
      for (let nth = 101; nth <= 112; nth++) later.push(await follow(mode, hostile.secretKey, start + nth));
      const ended = endsOf(later);
      await setTimeout(300);
      expect(ended).toEqual(later.map(() => 'open'));
    },
  );

  testLong('count from their first token on, by what their text takes in memory', async () => {
    const hostile = await service.tenant();
    const readers: EventReader[] = [];
    for (let stream = 0; stream < 4; stream++) {
      const token = await reserve(hostile.secretKey);
      readers.push(new EventReader(await call('GET', token, '', undefined, hostile.secretKey, gone.signal)));
      for (let nth = 0; nth < 90; nth++) {
        const query = `subscription { invoiceEvents { cursor } } #${stream} ${nth} ${'€'.repeat(58_000)}`;
        const [status] = await operate(token, `op${nth}`, { query }, hostile.secretKey);
        expect(status).toBe(202);
      }
    }
    const over = endsOf(readers);
    await expect.poll(() => over[0]).not.toBe('open');
    await setTimeout(300);
    expect(over[3]).toBe('open');
  });

  it.each(firstOf(['yoga', 'single', 'distinct']))(
    'are reset, never completed, for the client_secret that holds most, not for another (%s)',
    async (mode) => {
      const client = new Client(service.url, secretKey);
      const begin = async () => (await client.post('/v1/invoices', invoiceFor('999000000000878'))).body;
      const [victim, hostile] = [await begin(), await begin()];
      const open = ({ id, client_secret }: { id: string; client_secret: string }, nth: number, fields: number) =>
        follow(
          mode,
          client_secret,
          nth,
          `subscription ${mode}${nth} { invoiceStatus(id: "${id}") { ${'status @skip(if: false) '.repeat(fields)} } }`,
        );
      const followed = await open(victim, 0, 100);
      const readers: EventReader[] = [];
      for (let nth = 1; nth <= 50; nth++) readers.push(await open(hostile, nth, 480));
      const [ends, ofVictim] = [endsOf(readers), endsOf([followed])];
      await expect.poll(() => ends[0]).toBe('reset');
      await setTimeout(300);
      expect(ends.filter((end) => end === 'complete')).toEqual([]);
      expect([ends.at(-1), ofVictim]).toEqual(['open', ['open']]);
    },
  );

  it('of one text are one document, whoever runs it', async () => {
    const other = await service.tenant();
    const readers: EventReader[] = [];
    for (let nth = 0; nth < 50; nth++)
      readers.push(await follow('distinct', nth % 2 ? secretKey : other.secretKey, 9000));
    const ended = endsOf(readers);
    await setTimeout(300);
    expect(ended).toEqual(readers.map(() => 'open'));
  });
});

it.each([
  ['an object', '{"toString":1}'],
  ['a list of lists', `${'['.repeat(29_900)}${']'.repeat(29_900)}`],
  ['true', 'true'],
  ['a text that is too long', `"${'x'.repeat(201)}"`],
  ['half a character', '"\\ud800"'],
])('refuses an id of an operation that is %s, and it does not count', async (_, id) => {
  const token = await reserve();
  const query = '{ __typename }';
  const sent = `{"query":"${query}","extensions":{"operationId":${id}}}`;
  const tries = id.length < 1000 ? MAX_OPERATIONS + 1 : sampled(MAX_OPERATIONS + 1);
  const answers = await Promise.all(
    Array.from({ length: tries }, async () => {
      const answer = await call('POST', token, '', sent);
      return [answer.status, (await answer.json()).errors];
    }),
  );
  for (const answer of answers)
    expect(answer).toMatchObject([
      400,
      [
        {
          message: 'extensions.operationId must be a text of at most 200 characters.',
          extensions: { code: 'invalid_request', status: 400 },
        },
      ],
    ]);
  const asQuery = `?token=${token}&query=${encodeURIComponent(query)}&extensions=${encodeURIComponent(`{"operationId":${id.slice(0, 2000)}}`)}`;
  const headers = { Authorization: `Bearer ${secretKey}` };
  expect((await fetch(`${service.url}/graphql/stream${asQuery}`, { headers })).status).toBe(400);
  // In distinct connections mode nothing needs an id.
  const distinct = await fetch(`${service.url}/graphql/stream`, {
    method: 'POST',
    headers: { ...headers, Accept: 'text/event-stream', 'Content-Type': 'application/json' },
    body: sent,
  });
  expect((await new EventReader(distinct).all()).map(({ event }) => event)).toEqual(['next', 'complete']);
  expect(await operate(token, 7, { query })).toEqual([202, '']);
});
