import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client, invoiceBody } from '../support/client.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { firstOf } from '../support/samples.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { WORST_DOCUMENTS } from '../support/worst-documents.ts';

/** Many requests that arrive together, each of which is within the limits and takes a few milliseconds. */

const CONNECTIONS = 200;
/** Milliseconds of CPU time. In a single turn of the event loop, each of these bursts takes 300 or more. */
const MOST_MS = 150;

let service: TestService;
let tenant: TestTenant;
let clientSecret: string;
/** The clients, in a process of their own, so that only the work of the service is measured. */
let clients: ChildProcess;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  tenant = await service.tenant();
  const { body } = await new Client(service.url, tenant.secretKey).post('/v1/invoices', invoiceBody());
  clientSecret = body.client_secret;
  clients = fork(new URL('../support/burst.js', import.meta.url), { execArgv: [] });
  clients.send({ url: service.url, connections: CONNECTIONS });
  await once(clients, 'message');
});
afterAll(async () => {
  clients.kill();
  await service.close();
});

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

function sent(path: string, token: string, content: unknown, accept = 'application/json'): Sent {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: accept };
  return { path, body: JSON.stringify(content), headers };
}

/** Sends them together, and returns the statuses and the longest turn of the service, in milliseconds of CPU time. */
async function burst(requests: readonly Sent[]): Promise<{ statuses: Set<unknown>; held: number }> {
  let answers: unknown[] = [];
  clients.send([...requests]);
  await once(clients, 'message');
  const held = await longestTurn(async () => {
    clients.send('go');
    [answers] = await once(clients, 'message');
  });
  return { statuses: new Set(answers), held };
}

const line = { description: 'Conseil', quantity: 1, unit_price: 100, tax_rate: 20 };
const LINES = { ...invoiceBody(), lines: Array.from({ length: 1000 }, () => line) };
/** Close to the most values and bytes. */
const NAMES = Object.fromEntries(Array.from({ length: 29_000 }, (_, nth) => [`${nth}`.padEnd(20, 'a'), nth]));
/** No document is known, because each ends with another comment. */
const document = (nth: number | string) => `${WORST_DOCUMENTS['a field with selections']} # ${nth}`;

const BURSTS: readonly [what: string, count: number, status: number, make: (nth: number | string) => Sent][] = [
  ['bodies of 29,000 names', 20, 400, () => sent('/v1/invoices', tenant.secretKey, NAMES)],
  ['documents at /graphql', 60, 200, (nth) => sent('/graphql', clientSecret, { query: document(`${nth} a`) })],
  ['invoices of 1,000 lines', 200, 422, () => sent('/v1/invoices', tenant.secretKey, LINES)],
  [
    'documents at /graphql/stream',
    60,
    200,
    (nth) => sent('/graphql/stream', clientSecret, { query: document(`${nth} b`) }, 'text/event-stream'),
  ],
];

it.each(firstOf(BURSTS, 2))(
  '%s do not hold the event loop together',
  { timeout: 120_000 },
  async (_what, count, status, make) => {
    // The first ones load and compile what every request needs.
    for (const nth of ['first', 'second', 'third']) await burst([make(nth)]);
    // The least of three: a collection of garbage may fall into one of them, and what holds the loop does so each time.
    let held = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 3 && held >= MOST_MS; round++) {
      const all = await burst(Array.from({ length: count }, (_, nth) => make(`${round} ${nth}`)));
      expect([...all.statuses]).toEqual([status]);
      held = Math.min(held, all.held);
    }
    expect(held).toBeLessThan(MOST_MS);
  },
);
