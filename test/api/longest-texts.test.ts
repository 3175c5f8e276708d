import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { exampleOf } from '../../src/domain/invoice/field-table.ts';
import { INVOICE } from '../../src/domain/invoice/fields.ts';
import { MAX_BODY_BYTES } from '../../src/domain/limits.ts';
import { schema } from '../../src/graphql/schema.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { DOCUMENT } from '../support/contract.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { type Browser, signedIn } from '../support/person.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';
import { WORST_DOCUMENTS } from '../support/worst-documents.ts';
import { worstAsciiTexts, worstTexts } from '../support/worst-texts.ts';

/** How long one request may hold the event loop, milliseconds of CPU. */
const MOST_MS = 50;
/** Thousands of requests take minutes on a loaded machine. */
vi.setConfig({ testTimeout: 600_000 });
/** Tries of a request: the first ones compile code, and collect others' garbage. */
const TRIES = 4;
/** Bytes of a text in a head of 16 KiB, and in a body beside the rest of it. */
const [IN_HEAD, IN_BODY] = [14_000, MAX_BODY_BYTES - 3000];

let service: TestService;
let tenant: TestTenant;
let owner: Browser;
let operator: Browser;
let ids: { readonly inv: string; readonly we: string };

beforeAll(async () => {
  // With a proxy in front, so that what proxies send is read; each request has an address of its own.
  service = await startService({ RATE_LIMIT_ADDRESS: '1000000', TRUST_PROXY: '1' });
  tenant = await service.tenant();
  const client = new Client(service.url, tenant.secretKey);
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  const url = 'https://example.invalid/';
  const endpoint = (await client.post('/v1/webhook_endpoints', { url, events: ['invoice.accepted'] })).body;
  ids = { inv: id, we: endpoint.id };
  await client.settled(id);
  owner = (await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] })).browser;
  operator = (await signedIn(service, { isOperator: true })).browser;
});
afterAll(async () => {
  vi.resetConfig();
  await service.close();
});

interface Attempt {
  readonly what: string;
  readonly line: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

let addresses = 0;

function bytesOf({ line, headers = [], body }: Attempt): Buffer {
  const content = body === undefined ? null : Buffer.from(body);
  const has = (name: string) => headers.some((each) => each.toLowerCase().startsWith(`${name}:`));
  const lines = [
    `${line} HTTP/1.1`,
    ...(has('host') ? [] : [`Host: ${new URL(service.url).host}`]),
    ...(has('x-forwarded-for') ? [] : [`X-Forwarded-For: 10.${++addresses >> 8}.${addresses & 255}.1`]),
    'Connection: close',
    ...headers,
    ...(content && !has('content-type') ? ['Content-Type: application/json'] : []),
    ...(content ? [`Content-Length: ${content.length}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), content ?? Buffer.alloc(0)]);
}

/** The attempts that hold the loop too long in the best of several tries, with the time and the answer's status. */
async function slowOf(attempts: Iterable<Attempt>): Promise<string[]> {
  const slow: string[] = [];
  let [longest, which] = [0, ''];
  let count = 0;
  const begin = performance.now();
  for (const attempt of attempts) {
    let best = Number.POSITIVE_INFINITY;
    let status = 0;
    // What takes ten times as long does not take so long by chance.
    for (let left = TRIES; left > 0 && best > MOST_MS && (left === TRIES || best < 10 * MOST_MS); left--) {
      const bytes = bytesOf(attempt);
      const turn = await longestTurn(async () => {
        status = (await sendRaw(service.url, bytes)).status;
      });
      best = Math.min(best, turn);
    }
    count++;
    if (best > longest) [longest, which] = [best, attempt.what];
    if (best > MOST_MS) slow.push(`${attempt.what}: ${Math.round(best)} ms (${status})`);
    // Not an answer would mean that nothing was measured.
    if (!status) slow.push(`${attempt.what}: no answer`);
  }
  for (const each of slow) console.info(each);
  console.info(
    `${count} requests in ${Math.round((performance.now() - begin) / 1000)} s; the longest turn took ${Math.round(longest)} ms: ${which}`,
  );
  expect(count).toBeGreaterThan(0);
  return slow;
}

async function clientSecret(): Promise<string> {
  return (await new Client(service.url, tenant.secretKey).post('/v1/invoices', invoiceBody())).body.client_secret;
}

const bearer = () => `Authorization: Bearer ${tenant.secretKey}`;
const sessionOf = (browser: Browser): string[] =>
  Object.entries(browser.credential(tenant.id)).map(([name, value]) => `${name}: ${value}`);

/** Texts that differ most, for places of which there are many. */
const CHOICE = ['letters', 'slashes', 'digits', 'spaces', 'combining marks', 'compatibility ligatures', 'at signs'];
const CHOSEN = worstTexts(IN_BODY).filter(([name]) => CHOICE.includes(name));

const FEW = CHOSEN.filter(([name]) => /marks|slashes/.test(name));

/** Lists and objects of as many members as a body holds. */
const manyOf = (member: string) => `[${Array(Math.floor(IN_BODY / (member.length + 1))).fill(member)}]`;
const LISTS = ['{}', 'null', '""', '1', '[]', '{"a":1}', '"invoice.accepted"'].map(
  (member) => [`a list of ${member}`, manyOf(member)] as const,
);
const KEYS = [
  ['many keys', `{${Array.from({ length: 70_000 }, (_, i) => `"k${i}":""`)}}`],
  ['a long key', `{"${'\u0315\u0327'.repeat(IN_BODY / 4)}":""}`],
  ['deep objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)],
  ['deep lists', '['.repeat(400_000) + ']'.repeat(400_000)],
] as const;
const MEMBERS = [...LISTS, ...KEYS];
const SOME_MEMBERS = MEMBERS.filter(([name]) => /list of {}$|many keys/.test(name));

const quoted = (texts: readonly (readonly [string, string])[]) =>
  texts.map(([name, text]) => [name, JSON.stringify(text)] as const);

/** A JSON text with another one in a place of it. */
function withJson(value: unknown, place: readonly (string | number)[], json: string): string {
  const mark = '\u0000place\u0000';
  const put = (at: unknown, [step, ...rest]: readonly (string | number)[]): unknown => {
    if (step === undefined) return mark;
    if (Array.isArray(at)) return at.map((each, i) => (i === step ? put(each, rest) : each));
    return { ...(at as object), [step]: put((at as Record<string, unknown> | undefined)?.[step], rest) };
  };
  return JSON.stringify(put(value, place)).replace(JSON.stringify(mark), () => json);
}

/** All places in a value: objects and lists, and what is in them. */
function placesOf(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const steps = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [[], ...steps.flatMap((step) => placesOf(Reflect.get(value, step)).map((rest) => [step, ...rest]))];
}

describe('the longest texts of REST', () => {
  it('in each place of a body', async () => {
    expect(await slowOf(bodies())).toEqual([]);
  });

  function* bodies(): Generator<Attempt> {
    for (const [path, methods] of Object.entries(DOCUMENT.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { requestBody } = operation as { requestBody?: { content: Record<string, { example?: object }> } };
        const example = requestBody?.content['application/json']?.example;
        if (!example) continue;
        const line = `${method.toUpperCase()} ${path.replace('{id}', path.includes('webhook') ? ids.we : ids.inv)}`;
        for (const place of placesOf(wholeBody(example)))
          for (const [name, json] of [...quoted(CHOSEN), ...SOME_MEMBERS])
            yield {
              what: `${line} ${place.join('.')}: ${name}`,
              line,
              headers: [bearer()],
              body: withJson(wholeBody(example), place, json),
            };
      }
    }
  }

  /** An example with every member. */
  function wholeBody(example: object): object {
    if ('customer' in example) return exampleOf(INVOICE, 'input');
    return { url: 'https://example.invalid/', events: ['invoice.accepted'], description: 'ERP', ...example };
  }
});

/** A type's shortest valid value. */
function sampleOf(type: GraphQLInputType, description: string | null | undefined): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType, description);
  if (isListType(type)) return [sampleOf(type.ofType, description)];
  if (isInputObjectType(type))
    return Object.fromEntries(
      Object.values(type.getFields()).map((field) => [field.name, sampleOf(field.type, field.description)]),
    );
  if (isEnumType(type)) return type.getValues()[0]?.name;
  const known = { Int: 1, SafeInt: 1, Centimes: 12000, Boolean: true, Metadata: { a: 'b' }, DateTime: '2026-01-31' };
  if (type.name in known) return known[type.name as keyof typeof known];
  return description?.includes('`we_`') ? ids.we : description?.includes('`inv_`') ? ids.inv : 'x';
}

interface Operation {
  readonly name: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/** An operation for each field of the roots that has arguments, with a variable for each. */
function operations(): Operation[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
  ] as const;
  return roots.flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      if (field.args.length === 0) return [];
      const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
      const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
      const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
      return {
        name: field.name,
        query: `${kind} (${declared}) { ${field.name}(${passed})${selection} }`,
        variables: Object.fromEntries(field.args.map((arg) => [arg.name, sampleOf(arg.type, arg.description)])),
      };
    }),
  );
}

describe('the longest texts of GraphQL', () => {
  it('in each variable, and in each member of it', async () => {
    expect(await slowOf(inVariables([bearer()]))).toEqual([]);
  });

  it('in the variables of what only people may do', async () => {
    const theirs = (name: string) => /invit|member|apiKey|profile/i.test(name);
    expect(await slowOf(inVariables(sessionOf(owner), theirs))).toEqual([]);
  });

  it.each(['publishableKey', 'client_secret'] as const)('with a %s', async (credential) => {
    const token = credential === 'publishableKey' ? tenant.publishableKey : await clientSecret();
    const few = (name: string) => ['validateInvoice', 'createInvoice', 'verifyDocument', 'invoice'].includes(name);
    expect(await slowOf(inVariables([`Authorization: Bearer ${token}`], few))).toEqual([]);
  });

  function* inVariables(headers: readonly string[], chosen = (_name: string) => true): Generator<Attempt> {
    for (const { name, query, variables } of operations()) {
      if (!chosen(name)) continue;
      for (const place of placesOf(variables).filter(({ length }) => length > 0))
        for (const [text, json] of [...quoted(FEW), ...SOME_MEMBERS])
          yield {
            what: `${name} ${place.join('.')}: ${text}`,
            line: 'POST /graphql',
            headers,
            body: withJson({ query, variables }, ['variables', ...place], json),
          };
    }
  }

  it('in the members of a request', async () => {
    const body = { query: '{ __typename }', operationName: null, variables: {}, extensions: {} };
    const places = [[], ['query'], ['operationName'], ['variables'], ['variables', 'x'], ['extensions'], ['x']];
    const persisted = ['extensions', 'persistedQuery', 'sha256Hash'];
    const attempts = ['/graphql', '/graphql/stream'].flatMap((path) =>
      [...places, persisted].flatMap((place) =>
        MEMBERS.map(([name, json]) => ({
          what: `${path} ${place.join('.')}: ${name}`,
          line: `POST ${path}`,
          headers: [bearer(), ...(path.endsWith('stream') ? ['Accept: text/event-stream'] : [])],
          body: withJson(body, place, json),
        })),
      ),
    );
    expect(await slowOf(attempts)).toEqual([]);
  });
});

describe('the documents of GraphQL that cost most', () => {
  it.each(['secretKey', 'client_secret'] as const)('with a %s', async (credential) => {
    const token = credential === 'secretKey' ? tenant.secretKey : await clientSecret();
    const attempts = Object.entries(WORST_DOCUMENTS).flatMap(([name, query]) =>
      ['/graphql', '/graphql/stream'].map((path) => ({
        what: `${path}: ${name}`,
        line: `POST ${path}`,
        headers: [`Authorization: Bearer ${token}`],
        body: JSON.stringify({ query }),
      })),
    );
    expect(await slowOf(attempts)).toEqual([]);
  });
});

describe('the longest texts that are accepted', () => {
  it('of an invoice of 1,000 lines', async () => {
    const chosen = /quotation|line breaks|marks|Arabic|emoji|ligatures|full stops/;
    const attempts = worstTexts(500)
      .filter(([name]) => chosen.test(name))
      .map(([name, text]) => {
        const short = [...text].slice(
          0,
          Math.floor((900_000 / 1000 / Buffer.byteLength(JSON.stringify(text))) * [...text].length),
        );
        const lines = Array(1000).fill({
          description: `x${short.join('')}`.toWellFormed().slice(0, 480),
          quantity: 1,
          unit_price: 10_000,
        });
        const customer = { ice: '001234567000089', name: `x${text.slice(0, 190)}`, address: text.slice(0, 400) };
        return {
          what: `lines of ${name}`,
          line: 'POST /v1/invoices',
          headers: [bearer()],
          body: JSON.stringify(
            invoiceBody({ amount: 12_000_000, customer, lines, metadata: { a: text.slice(0, 400) } }),
          ),
        };
      });
    expect(await slowOf(attempts)).toEqual([]);
  });
});

describe('the longest texts of operators and embedded pages', () => {
  it('in each member of each body', async () => {
    const paths = (await knownPaths()).filter((path) => /^\/(ops|embed)\/api\/(tenants|authority|statuses)/.test(path));
    expect(paths.length).toBeGreaterThan(6);
    const members = ['name', 'reason', 'email', 'logo', 'invoices'];
    const attempts = paths.flatMap((path) =>
      members.flatMap((name) =>
        [...quoted(FEW), ...KEYS].map(([text, json]) => ({
          what: `${path} ${name}: ${text}`,
          line: `POST ${path.replace(':id', tenant.id)}`,
          headers: sessionOf(operator),
          body: `{"${name}":${json}}`,
        })),
      ),
    );
    expect(await slowOf(attempts)).toEqual([]);
  });
});

/** The paths in the source of the transport, with their parameters as `:name`. */
async function knownPaths(): Promise<string[]> {
  const source = await sourceOfTransport();
  const found = [...source.matchAll(/'(\/[a-z][\w/:.-]*)'/g)].map(([, path = '']) => path);
  return [...new Set([...found, ...Object.keys(DOCUMENT.paths).map((path) => path.replace('{id}', ':id'))])];
}

async function sourceOfTransport(): Promise<string> {
  const folder = join(import.meta.dirname, '../../src/transport');
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  return (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
}

describe('the longest texts of a head', () => {
  it('in each path', async () => {
    const texts = worstAsciiTexts(IN_HEAD);
    const paths = (await knownPaths()).flatMap((path) => [`${path}/:x`, ...(path.includes(':') ? [path] : [])]);
    const attempts = [...paths, '/:x', '//:x', '/v2/:x'].flatMap((path) =>
      texts.flatMap(([name, text]) =>
        ['GET', 'POST'].map((method) => ({
          what: `${method} ${path}: ${name}`,
          line: `${method} ${path.replace(/:\w+/, () => text.replaceAll(' ', '+')).replace(/:\w+/g, 'x')}`,
          headers: [bearer()],
        })),
      ),
    );
    expect(await slowOf(attempts)).toEqual([]);
  });

  it('in each query', async () => {
    const names = ['query', 'variables', 'operationName', 'extensions', 'lang', 'after', 'token', 'client_secret'];
    const ofRest = Object.values(DOCUMENT.paths).flatMap((methods) =>
      Object.values(methods).flatMap((operation) =>
        ((operation as { parameters?: { name?: string; in?: string }[] }).parameters ?? []).flatMap((each) =>
          each.in === 'query' && each.name ? [each.name] : [],
        ),
      ),
    );
    const chosen = worstAsciiTexts(IN_HEAD).filter(([name]) => /letters|slashes|cent|equals|paren|digits/.test(name));
    const queries = chosen.flatMap(([text, raw]) => {
      const value = raw.replaceAll(' ', '+');
      return [
        [text, value],
        ...[...new Set([...names, ...ofRest])].map((name) => [`${name}=${text}`, `${name}=${value}`]),
      ];
    });
    const many = ['a&', 'a=1&', '&', '%61=%61&', 'limit=1&'].map((each) => [each, each.repeat(IN_HEAD / each.length)]);
    const paths = (await knownPaths()).filter((path) => /^\/(v1|graphql|verify|readyz|embed|auth)/.test(path));
    const attempts = paths.flatMap((path) =>
      [...queries, ...many].map(([name = '', query = '']) => ({
        what: `GET ${path}?${name}`,
        line: `GET ${path.replace(/:\w+/g, path.includes('webhook') ? ids.we : ids.inv)}?${query}`,
        headers: [bearer()],
      })),
    );
    expect(await slowOf(attempts)).toEqual([]);
  });

  /** The headers that the service or one of its libraries reads, from the source and from the standards. */
  async function headerNames(): Promise<string[]> {
    const source = await sourceOfTransport();
    const read = [
      ...source.matchAll(/\.get\('([A-Za-z-]+)'\)|headers(?:\.([a-z]+)|\['([a-z-]+)'\])/g),
      ...source.matchAll(/(?:singleHeader|countOf)\(ctx, '([A-Za-z-]+)'\)/g),
      ...source.matchAll(/'((?:[A-Z][a-z]+)(?:-[A-Z][A-Za-z]+)+)'/g),
    ].map(([, ...names]) => names.find(Boolean)?.toLowerCase() ?? '');
    const known =
      'accept accept-encoding accept-language authorization cookie content-type content-encoding origin host user-agent range if-range if-none-match if-modified-since last-event-id x-forwarded-for x-forwarded-proto x-forwarded-host forwarded x-real-ip traceparent tracestate baggage sentry-trace sec-fetch-site fatoura-tenant fatoura-environment expect access-control-request-method access-control-request-headers cache-control connection te upgrade referer x-http-method-override';
    return [...new Set([...read, ...known.split(' ')])].filter((name) => !/^$|length|transfer/.test(name));
  }

  it('in each header', async () => {
    // A path for each part of the transport that reads headers of its own.
    const lines: readonly (readonly [string, string?])[] = [
      ['POST /v1/invoices', JSON.stringify(invoiceBody({ amount: 1 }))],
      ['OPTIONS /v1/invoices'],
      ['POST /graphql', '{"query":"{ __typename }"}'],
      [`GET /verify/${ids.inv}`],
      ['GET /auth/session'],
    ];
    const names = await headerNames();
    expect(names.length).toBeGreaterThan(40);
    const lists = [
      'a,',
      'a;q=0.1,',
      'fr-MA;q=0.5, ',
      'text/html;level=1;q=0.4, ',
      '"x", ',
      'a=b; ',
      '10.0.0.1, ',
      'for="[::1]";by=x,',
      'multipart/form-data; boundary=',
    ];
    const values = [
      ...worstAsciiTexts(IN_HEAD).filter(([name]) => /letters|slashes|quot|hyphens|digits|brace|colons/.test(name)),
      ...lists.map((each) => [`many ${each}`, `${each.repeat(Math.floor(IN_HEAD / each.length))}x`] as const),
      ['spaces', `a${' '.repeat(IN_HEAD)}a`],
    ] as const;
    const attempts = lines.flatMap(([line, body]) =>
      names.flatMap((header) =>
        values.map(([name, value]) => ({
          what: `${line} ${header}: ${name}`,
          line,
          headers: header === 'authorization' ? [`Authorization: Bearer ${value}`] : [bearer(), `${header}: ${value}`],
          ...(body !== undefined && { body }),
        })),
      ),
    );
    expect(await slowOf(attempts)).toEqual([]);
  });
});

describe('the longest texts of a form', () => {
  it('in each part of it', async () => {
    const part = (disposition: string, more = '', content = 'x') =>
      `--b\r\nContent-Disposition: ${disposition}\r\n${more}\r\n${content}\r\n--b--\r\n`;
    const attempts = worstTexts(MAX_BODY_BYTES).flatMap(([name, text]) => {
      const bodies = {
        name: part(`form-data; name="${text}"; filename="x"`),
        filename: part(`form-data; name="file"; filename="${text}"`),
        'filename*': part(`form-data; name="file"; filename*=UTF-8''${text}`),
        disposition: part(text),
        parameters: part(`form-data; ${'a=b; '.repeat(200_000)}`),
        header: part('form-data; name="file"; filename="x"', `X: ${text}\r\n`),
        headers: part('form-data; name="file"; filename="x"', 'X: y\r\n'.repeat(100_000)),
        content: part('form-data; name="file"; filename="x"', '', text),
        field: part('form-data; name="x"', '', text),
        preamble: text,
      };
      return Object.entries(bodies).map(([place, body]) => ({
        what: `POST /verify ${place}: ${name}`,
        line: `POST /verify/${ids.inv}`,
        headers: ['Content-Type: multipart/form-data; boundary=b'],
        body,
      }));
    });
    expect(await slowOf(attempts)).toEqual([]);
  });
});
