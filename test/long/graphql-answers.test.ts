import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../src/graphql/limits.ts';
import { copiedInvoice } from '../support/large-invoices.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

/**
 * The worst that GraphQL answers and refuses, ten times at once, by each credential: how long the event loop is held, and how much memory
 * the process takes meanwhile, embedded engine included. A hold is counted in CPU time of the thread, so that other programs of a busy
 * machine do not count; on a quiet one it is the time that others wait.
 */
const [AT_ONCE, HELD_MS, GROWTH_MB] = [10, 50, 100];

/** The size of a process depends on when its garbage is collected, so one excess is tried again: three are a fault. */
const TRIES = 3;

let service: TestService;
let tenant: TestTenant;
let large: Awaited<ReturnType<typeof copiedInvoice>>;
let collectGarbage: () => void;

beforeAll(async () => {
  setFlagsFromString('--expose-gc');
  collectGarbage = runInNewContext('gc');
  service = await startService();
  tenant = await service.tenant();
  large = await copiedInvoice(service, tenant, 1000, 60);
});
afterAll(() => service.close());

const times = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => `a${i}: ${field(i)}`).join(' ');
const lines = (count: number, name: string) => `id lines { ${times(count, () => name)} }`;
const secretKey = () => tenant.secretKey;
const clientSecret = () => large.client_secret;
const publishable = () => tenant.publishableKey;
const one = (below: string, more = '') => `{ invoice(id: "${large.id}"${more}) { ${below} } }`;
const withSecret = () => `, clientSecret: "${large.client_secret}"`;

/** Who asks, what for, and whether it is answered. */
const CASES: [string, () => string, () => string, boolean][] = [
  [
    'the attack, by a secret key',
    secretKey,
    () => `{ invoices(first: 60) { nodes { ${lines(45, 'description')} } } }`,
    false,
  ],
  ['the most fields, by a secret key', secretKey, () => one(lines(28, 'quantity')), true],
  [
    'the most fields of several, by a secret key',
    secretKey,
    () => `{ invoices(first: 6) { nodes { ${lines(3, 'amount')} } } }`,
    true,
  ],
  ['the most bytes, by a secret key', secretKey, () => one(lines(4, 'description')), true],
  ['the most rows that are read, by a secret key', secretKey, () => '{ invoices(first: 100) { nodes { id } } }', true],
  [
    'pages beside one another, by a secret key',
    secretKey,
    () => `{ ${times(10, () => 'invoices(first: 100) { nodes { id } }')} }`,
    false,
  ],
  [
    'invoices beside one another, by a secret key',
    secretKey,
    () => `{ ${times(10, (i) => `invoice(id: "${large.ids[i]}") { ${lines(1, 'quantity')} }`)} }`,
    true,
  ],
  ['the attack, by a client_secret', clientSecret, () => one(lines(45, 'description')), false],
  ['the most fields, by a client_secret', clientSecret, () => one(lines(28, 'quantity')), true],
  ['the most bytes, by a client_secret', clientSecret, () => one(lines(4, 'description')), true],
  [
    'one invoice ten times, by a client_secret',
    clientSecret,
    () => `{ ${times(10, () => `invoice(id: "${large.id}") { ${lines(1, 'quantity')} }`)} }`,
    true,
  ],
  ['the attack, by a publishable key', publishable, () => one(lines(45, 'description'), withSecret()), false],
  ['the most fields, by a publishable key', publishable, () => one(lines(28, 'quantity'), withSecret()), true],
  ['the most bytes, by a publishable key', publishable, () => one(lines(4, 'description'), withSecret()), true],
];

const WAYS = [
  ['prepared or not', '/graphql', 'application/json'],
  ['as an event, by Yoga', '/graphql', 'text/event-stream'],
  ['as an event, by graphql-sse', '/graphql/stream', 'text/event-stream'],
] as const;

interface Answered {
  readonly status: number;
  readonly bytes: number;
  readonly refused: boolean;
}

async function askAtOnce(token: string, query: string, path: string, accept: string): Promise<Answered[]> {
  const requests = Array.from({ length: AT_ONCE }, () => ({ token, query, path, accept }));
  const asking = fork(new URL('../support/ask-at-once.js', import.meta.url), { execArgv: [] });
  asking.send({ url: service.url, requests });
  const [answers] = await once(asking, 'message');
  return answers as Answered[];
}

/** The longest hold of the event loop, milliseconds of CPU time, and how many MB the process grew to at most. */
async function during<Result>(
  act: () => Promise<Result>,
): Promise<{ result: Result; heldMs: number; grownMb: number }> {
  collectGarbage();
  await sleep(200);
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const before = process.memoryUsage.rss();
  let [last, heldMs, most] = [cpuMs(), 0, before];
  const timer = setInterval(() => {
    const now = cpuMs();
    heldMs = Math.max(heldMs, now - last);
    last = now;
    most = Math.max(most, process.memoryUsage.rss());
  }, 1);
  const result = await act();
  await sleep(50);
  clearInterval(timer);
  return { result, heldMs, grownMb: (most - before) / 1e6 };
}

it.each(CASES)('%s', async (_name, token, query, isAnswered) => {
  for (const [way, path, accept] of WAYS) {
    // What is compiled is compiled, and the heap has its usual size.
    await askAtOnce(token(), query(), path, accept);
    const measure = () => during(() => askAtOnce(token(), query(), path, accept));
    const measured = [await measure()];
    while (measured.length < TRIES && measured.every((each) => each.grownMb >= GROWTH_MB))
      measured.push(await measure());
    const heldMs = Math.max(...measured.map((each) => each.heldMs));
    const grownMb = Math.min(...measured.map((each) => each.grownMb));
    const result = measured.flatMap((each) => each.result);
    const bytes = Math.max(...result.map((each) => each.bytes));
    console.log(
      `  ${way}: held ${heldMs.toFixed(0)} ms, grew ${grownMb.toFixed(0)} MB, ${bytes.toLocaleString('en')} bytes each`,
    );
    expect(result.map(({ refused }) => refused)).toEqual(result.map(() => !isAnswered));
    expect(bytes).toBeLessThan(LIMITS.answerBytes + 1000);
    expect(heldMs).toBeLessThan(HELD_MS);
    expect(grownMb).toBeLessThan(GROWTH_MB);
  }
});
