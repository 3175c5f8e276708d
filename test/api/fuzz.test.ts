import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyText } from '../support/any-text.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { checkContract, DOCUMENT } from '../support/contract.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

/** Number of requests for each operation. A failure prints the seed and the minimal failing request. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 30);

let service: TestService;
let tenant: TestTenant;
let invoice: { id: string; client_secret: string };
let endpoint: { id: string };

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000' });
  tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  invoice = (await client.post('/v1/invoices', invoiceBody())).body;
  endpoint = (
    await client.post('/v1/webhook_endpoints', { url: 'https://example.invalid/', events: ['invoice.accepted'] })
  ).body;
  await client.settled(invoice.id);
});
afterAll(() => service.close());

/** Values that often cause errors in programs. */
const awkward = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    '',
    ' ',
    '\0',
    '\u0000x',
    '\ud800',
    '\u202e',
    'ا',
    '😀'.repeat(300),
    'x'.repeat(5000),
    0,
    -0,
    -1,
    1.5,
    1e21,
    -1e308,
    2 ** 53,
    2 ** 53 - 1,
    Number.MAX_VALUE,
    99,
    100,
    [],
    {},
    [[]],
    [null],
    '__proto__',
    'constructor',
    '$where',
    '$x',
    "' OR 1=1",
    '<script>',
    '../../etc/passwd',
    '%00',
    { $gt: '' },
    { __proto__: null, toString: 1 },
    { a: { b: { c: [] } } },
  ),
  anyText({ maxLength: 40 }),
  fc.double(),
  fc.jsonValue({ maxDepth: 4 }),
  fc.integer({ min: 1, max: 3000 }).map(nested),
);

/** JSON that no serializer produces, and invalid JSON. */
const raw = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '{',
    '[',
    'null',
    '"x"',
    '1e400',
    '{"amount":1e400}',
    '{"amount":12000000000000000000001}',
    'NaN',
    '{"amount":1,"amount":2}',
    '{"__proto__":{"x":1}}',
    '\ufeff{}',
    "{'a':1}",
    '{"a":1,}',
    '\0',
    '{"a":"\\ud800"}',
    '['.repeat(100_000),
    `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
    `"${'x'.repeat(1_100_000)}"`,
  ),
  anyText({ maxLength: 200 }),
);

function nested(depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);
}

/** The example with some values replaced by unusual ones, or with additional fields. */
function mutated(example: unknown): fc.Arbitrary<unknown> {
  const places = placesOf(example);
  return fc
    .array(fc.tuple(fc.constantFrom(...places), awkward, fc.boolean()), { maxLength: 3 })
    .map((changes) => changes.reduce((body, [place, value, drop]) => changed(body, place, value, drop), example));
}

function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (value === null || typeof value !== 'object') return [at];
  return [at, [...at, 'unknown'], ...Object.entries(value).flatMap(([key, each]) => placesOf(each, [...at, key]))];
}

function changed(value: unknown, [step, ...rest]: readonly string[], to: unknown, drop: boolean): unknown {
  if (step === undefined) return to;
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((each, i) => (String(i) === step ? changed(each, rest, to, drop) : each));
  const { [step]: old, ...others } = value as Record<string, unknown>;
  return drop && rest.length === 0 ? others : { ...others, [step]: changed(old, rest, to, drop) };
}

const segment = fc.oneof(
  fc.constantFrom('%00', '%', '%ff', '..', '.', '%2e%2e', ';', 'inv_', `inv_${'0'.repeat(36)}`, 'x'.repeat(3000)),
  fc.string({ maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed()) || 'x'),
);

const headerValue = fc.stringMatching(/^[!-~]([ -~]{0,60}[!-~])?$/);

function requestOf(method: string, template: string, operation: Operation): fc.Arbitrary<Buffer> {
  const names = (operation.parameters ?? []).flatMap(({ name, in: place }) => (place === 'query' ? [name] : []));
  const parameter = fc.tuple(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom('limit', 'client_secret', ...names) }, fc.string()),
    fc.oneof(
      fc.constantFrom('1', '100', 'accepted', '2026-01-31T12:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'),
      awkward
        .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
        .filter((text) => text.length < 6000),
      fc.constant(invoice?.id ?? 'inv_x'),
    ),
  );
  const example = operation.requestBody?.content['application/json']?.example;
  const body = example === undefined ? fc.oneof(fc.constant(''), raw) : bodyOf(example);
  return fc
    .record({
      id: fc.oneof({ weight: 2, arbitrary: fc.constant('') }, segment),
      query: fc.array(parameter, { maxLength: 3 }),
      token: fc.oneof({ weight: 8, arbitrary: fc.constant('sk') }, fc.constantFrom('pk', 'client', 'none', 'bad')),
      type: fc.oneof(
        { weight: 6, arbitrary: fc.constant('application/json') },
        fc.constantFrom('text/plain', 'application/xml', 'application/json; charset=latin1', 'multipart/form-data', ''),
        headerValue,
      ),
      headers: fc.array(
        fc.tuple(
          fc.constantFrom('Idempotency-Key', 'If-None-Match', 'Last-Event-ID', 'Accept', 'Origin', 'Content-Encoding'),
          headerValue,
        ),
        { maxLength: 3 },
      ),
      twice: fc.boolean(),
      body,
    })
    .map((parts) => {
      const query = parts.query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
      const own = template.includes('webhook') ? endpoint.id : invoice.id;
      const path = template.replace('{id}', parts.id || own) + (query && `?${query}`);
      const tokens = {
        sk: tenant.secretKey,
        pk: tenant.publishableKey,
        client: invoice.client_secret,
        bad: 'x\tx',
        none: '',
      };
      const bytes = Buffer.from(parts.body);
      const lines = [
        `${method.toUpperCase()} ${path} HTTP/1.1`,
        'Host: localhost',
        'Connection: close',
        ...(parts.token === 'none' ? [] : [`Authorization: Bearer ${tokens[parts.token as keyof typeof tokens]}`]),
        ...(parts.type && bytes.length > 0 ? [`Content-Type: ${parts.type}`] : []),
        ...(bytes.length > 0 ? [`Content-Length: ${bytes.length}`] : []),
        ...parts.headers.flatMap(([name, value]) => Array(parts.twice ? 2 : 1).fill(`${name}: ${value}`)),
      ];
      return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
    });
}

function bodyOf(example: unknown): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: mutated(example).map((value) => JSON.stringify(value) ?? '') },
    { weight: 1, arbitrary: raw },
  );
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> };
}

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([template, operations]) =>
  Object.entries(operations).map(([method, operation]) => [method, template, operation as Operation] as const),
);

describe('no request gets a 500, or a response that the OpenAPI document does not describe', () => {
  it.each(OPERATIONS)('%s %s', async (method, template, operation) => {
    // The tenant's only endpoint is kept for the other requests.
    const target = method === 'delete' ? template.replace('{id}', 'we_{id}') : template;
    await fc.assert(
      fc.asyncProperty(requestOf(method, target, operation), async (bytes) => {
        const [, path = ''] = bytes.subarray(0, 10_000).toString('latin1').split(' ', 2);
        const { status, headers, body } = await sendRaw(service.url, bytes);
        expect(status).toBeGreaterThan(0);
        expect([status, status < 500]).toEqual([status, true]);
        checkContract({ method: method.toUpperCase(), path, status, headers: new Headers(headers), text: body });
      }),
      {
        numRuns: RUNS,
        interruptAfterTimeLimit: 20_000,
        ...(process.env.FUZZ_SEED && { seed: Number(process.env.FUZZ_SEED) }),
      },
    );
  });
});
