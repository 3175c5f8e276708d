import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { followStatus } from '../../src/cli/demo/client.ts';
import { followEvents, type StreamedEvent } from '../../src/cli/webhooks/service.ts';
import { type BreakingProxy, startBreakingProxy } from '../support/breaking-proxy.ts';
import { Client, invoiceBody, invoiceFor } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { type TestService, withSharedService } from '../support/service.ts';

let service: TestService;
/** A proxy between the client and the service. */
let proxy: BreakingProxy;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  proxy = await startBreakingProxy(service.url);
});
afterAll(async () => {
  await proxy.close();
});

it('a broken stream is resumed: each event arrives once, in order, including those of the interruption', async () => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const end = new AbortController();
  const told: StreamedEvent[] = [];
  const states: (string | null)[] = [];
  const following = (async () => {
    const access = { url: proxy.url, secretKey };
    for await (const each of followEvents(access, end.signal, (lost) => states.push(lost))) told.push(each);
  })();
  await expect.poll(() => states, { timeout: 50_000 }).toEqual([null]);
  const ids: string[] = [];
  for (let round = 1; round <= 3; round++) {
    ids.push((await client.post('/v1/invoices', invoiceBody())).body.id);
    await expect.poll(() => told.length, { timeout: 50_000 }).toBe(round * 3);
    // An event is resent while the client is disconnected.
    proxy.break();
    await client.settled(ids.at(-1) ?? '');
  }
  end.abort();
  proxy.break();
  await following;
  expect(told.map(({ event }) => JSON.parse(event.body).data.id)).toEqual(ids.flatMap((id) => [id, id, id]));
  expect(new Set(told.map(({ event }) => event.id)).size).toBe(9);
  expect(states.length).toBeGreaterThanOrEqual(5);
});

it('a connection that ended without a word is noticed, and resumed: `listen` and the demo', async () => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const end = new AbortController();
  const told: StreamedEvent[] = [];
  const states: (string | null)[] = [];
  const following = (async () => {
    const access = { url: proxy.url, secretKey };
    for await (const each of followEvents(access, end.signal, (lost) => states.push(lost), 1000)) told.push(each);
  })();
  // Decided later, so that the stream is open when the line falls silent.
  const { body } = await client.post('/v1/invoices', invoiceFor(SLOW_CUSTOMER));
  const decide = await holdDecision(service, body.id);
  const statuses: string[] = [];
  const followed = (async () => {
    for await (const { status } of followStatus(proxy.url, body, end.signal, 1000)) statuses.push(status);
  })();
  await expect.poll(() => [told.length, statuses.length > 0]).toEqual([1, true]);
  proxy.silence();
  await decide();
  await expect.poll(() => told.length).toBe(3);
  await followed;
  expect(statuses.at(-1)).toBe('accepted');
  expect(states).toContain(`The connection to ${proxy.url} is lost (the connection is silent)`);
  end.abort();
  await following;
});

it('sends a tenant only its own events, after the cursor', async () => {
  const [mine, theirs] = [await service.tenant(), await service.tenant()];
  const client = new Client(service.url, mine.secretKey);
  let listening = 0;
  const listen = async (key: string, count: number) => {
    const end = new AbortController();
    const told: StreamedEvent[] = [];
    for await (const each of followEvents({ url: service.url, secretKey: key }, end.signal, () => listening++)) {
      told.push(each);
      if (told.length === count) end.abort();
    }
    return told;
  };
  const hearing = Promise.all([listen(mine.secretKey, 3), listen(theirs.secretKey, 3)]);
  await expect.poll(() => listening, { timeout: 50_000 }).toBe(2);
  const metadata = { text: '\r\n\n\u0000\u007f\u0085\u2028\u2029\uffff', 'data: ': '\n\ndata: x\n\n' };
  const { body: a } = await client.post('/v1/invoices', invoiceBody({ metadata }));
  const { body: b } = await new Client(service.url, theirs.secretKey).post('/v1/invoices', invoiceBody());
  const [own, others] = await hearing;
  for (const { event } of own) expect(JSON.parse(event.body).data.metadata).toEqual(metadata);
  for (const [told, id] of [
    [own, a.id],
    [others, b.id],
  ] as const) {
    expect(new Set(told.map(({ event }) => JSON.parse(event.body).data.id))).toEqual(new Set([id]));
  }
});

it('may begin at an instant', async () => {
  const { secretKey } = await service.tenant();
  const client = new Client(service.url, secretKey);
  const earlier = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(earlier.id);
  await sleep(50);
  const at = new Date().toISOString();
  const later = (await client.post('/v1/invoices', invoiceBody())).body;
  await client.settled(later.id);
  const end = new AbortController();
  const response = await fetch(`${service.url}/graphql/stream`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    body: JSON.stringify({
      query: 'subscription ($after: String) { invoiceEvents(after: $after) { event { invoiceId } } }',
      variables: { after: at },
    }),
    signal: end.signal,
  });
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split('"invoiceId"').length > 3) break;
  }
  end.abort();
  expect([...text.matchAll(/"invoiceId":"([^"]*)"/g)].map(([, id]) => id)).toEqual(Array(3).fill(later.id));
});

it('a publishable key is refused, and so is an invalid cursor', async () => {
  const { publishableKey, secretKey } = await service.tenant();
  const ask = (key: string, after: string | null) =>
    fetch(`${service.url}/graphql/stream`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', Accept: 'text/event-stream' },
      body: JSON.stringify({
        query: 'subscription ($after: String) { invoiceEvents(after: $after) { cursor } }',
        variables: { after },
      }),
    }).then((response) => response.text());
  expect(await ask(publishableKey, null)).toContain('insufficient_scope');
  for (const wrong of ['evt_1', '2026-01-31', '2026-13-31T12:00:00Z', '2026-01-31T12:00:00+01:00'])
    expect(await ask(secretKey, wrong)).toContain('invalid_request');
});

it('a single result sent as an event contains only the protocol’s line ends, on both paths', async () => {
  const { secretKey } = await service.tenant();
  const metadata = { text: 'a\u0085b\u2028c\u2029d' };
  const { body } = await new Client(service.url, secretKey).post('/v1/invoices', invoiceBody({ metadata }));
  for (const path of ['/graphql', '/graphql/stream']) {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${secretKey}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: `{ invoice(id: "${body.id}") { metadata } }` }),
    });
    const text = await response.text();
    expect(text).not.toMatch(/[\u0085\u2028\u2029]/);
    expect(JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '').data.invoice).toEqual({ metadata });
  }
});
