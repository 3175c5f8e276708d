import { on } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { firstOf, someOf } from '../support/samples.ts';
import { startService, type TestService } from '../support/service.ts';

/** What a process keeps of the requests that began running subscriptions. */
let service: TestService;
let secretKey: string;
beforeAll(async () => {
  service = await startService({ RATE_LIMIT_SECRET: '100000', RATE_LIMIT_TENANT: '100000' });
  ({ secretKey } = await service.tenant());
});
afterAll(() => service.close());

/** The connections of a test. Raw, because fetch keeps bodies and ends streams whose answer is collected. */
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await expect.poll(() => service.app.listeners()).toBe(0);
});

/** Bytes of the heap that are in use. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

const MODES = ['/graphql', '/graphql/stream', 'single connection mode'] as const;
type Mode = (typeof MODES)[number];

/** Sends a request. @returns the beginning of the answer: a stream goes on */
async function call(method: string, path: string, headers: Record<string, string>, body?: object): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  const text = body ? JSON.stringify(body) : '';
  const head = {
    Host: hostname,
    Authorization: `Bearer ${secretKey}`,
    'Content-Type': 'application/json',
    'Content-Length': String(text.length),
    ...headers,
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
  let answer = '';
  for await (const [chunk] of on(socket, 'data')) {
    answer += chunk;
    if (/\r\n\r\n(.|\n)/.test(answer) || /content-length: 0\r\n|^HTTP\/1.1 202/i.test(answer)) break;
  }
  socket.resume();
  return answer;
}

/** Opens a stream in single connection mode. */
async function reserved(): Promise<string> {
  const token = (await call('PUT', '/graphql/stream', {})).match(/[\w-]{32}(?=\s*(0\s*)?$)/)?.[0] ?? '';
  const opened = await call('GET', `/graphql/stream?token=${token}`, { Accept: 'text/event-stream' });
  expect(opened).toContain('HTTP/1.1 200');
  return token;
}

interface Body {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: object;
  readonly extensions?: object;
  readonly other?: string;
}

/** Returns a function that begins a subscription. */
async function opener(mode: Mode) {
  if (mode !== 'single connection mode')
    return (body: Body, headers = {}) => call('POST', mode, { Accept: 'text/event-stream', ...headers }, body);
  const token = await reserved();
  let nth = 0;
  return (body: Body, headers = {}) =>
    call(
      'POST',
      '/graphql/stream',
      { 'X-GraphQL-Event-Stream-Token': token, ...headers },
      {
        ...body,
        extensions: { ...body.extensions, operationId: String(nth++) },
      },
    );
}

const BEGUN = /^HTTP\/1.1 20[02] /;
const QUERY = 'subscription ($after: String) { invoiceEvents(after: $after) { cursor } }';
const LONG = 'x'.repeat(900_000);
/** Number of subscriptions of a test. */
const MANY = 20;

const UNUSED = MODES.flatMap((mode) => [
  { mode, what: 'variables that its operation does not declare', body: { query: QUERY, variables: { other: LONG } } },
  { mode, what: 'extensions', body: { query: QUERY, extensions: { other: LONG } } },
  {
    mode,
    what: 'unknown members of its request',
    body: { query: QUERY, ...(mode === '/graphql' ? {} : { other: LONG }) },
  },
]);

describe('a running subscription', () => {
  it.each([...someOf(UNUSED)])('of $mode keeps no $what', async ({ mode, body }) => {
    const open = await opener(mode);
    const before = heapUsed();
    for (let nth = 0; nth < MANY; nth++) {
      const answer = await open(body);
      expect(answer).toMatch(BEGUN);
    }
    const grown = heapUsed() - before;
    expect(grown).toBeLessThan((MANY * LONG.length) / 4);
  });

  it.each(firstOf(MODES))('of %s keeps no headers', async (mode) => {
    const grownWith = async (header: string) => {
      const open = await opener(mode);
      const before = heapUsed();
      for (let nth = 0; nth < 100; nth++)
        expect(await open({ query: QUERY }, { 'X-Other': `${nth}${header}` })).toMatch(BEGUN);
      return heapUsed() - before;
    };
    // What is kept is there in every round; what else grows at the same time is not.
    await expect
      .poll(async () => -(await grownWith('')) + (await grownWith('x'.repeat(12_000))), { timeout: 60_000 })
      .toBeLessThan((100 * 12_000) / 2);
  });

  it.each(firstOf(MODES))('of %s keeps the name of its operation only in its document', async (mode) => {
    const grown: number[] = [];
    // The first round fills the cache of documents.
    for (const round of ['A', 'B']) {
      const open = await opener(mode);
      const before = heapUsed();
      for (let nth = 0; nth < 2 * MANY; nth++) {
        const operationName = `${round}${nth}${'x'.repeat(90_000)}`;
        const query = `subscription ${operationName} { invoiceEvents { event { id } } }`;
        expect(await open({ query, operationName })).toMatch(BEGUN);
      }
      grown.push(heapUsed() - before);
    }
    // The text of the document, and its names, which V8 keeps once more.
    expect(grown[1]).toBeLessThan(2 * MANY * 260_000);
  });

  it.each(MODES)('of %s refuses long variables', async (mode) => {
    const open = await opener(mode);
    const answer = await open({ query: QUERY, variables: { after: LONG } });
    expect(answer).toContain('The variables of a subscription may have at most 4,000 characters in all.');
    expect(answer).toContain('"invalid_request"');
  });
});
