import {
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { exampleOf } from '../../src/domain/invoice/field-table.ts';
import { INVOICE } from '../../src/domain/invoice/fields.ts';
import * as accountInputs from '../../src/domain/person/account-input.ts';
import { createEndpointInput } from '../../src/domain/webhook/endpoint-input.ts';
import { schema } from '../../src/graphql/schema.ts';
import { startService, type TestService, type TestTenant } from '../support/service.ts';

// Whatever text a client sends, and however long its layer lets it be: no turn of the event loop takes longer than this.
// The CPU time of the thread is measured, so that a loaded machine changes nothing.
const MOST_MS = 50;
/** Of so many tries the quickest counts: a collection of garbage is no fault of the text. */
const TRIES = 4;

let service: TestService;
let tenant: TestTenant;
let invoiceId: string;
beforeAll(async () => {
  const most = '1000000';
  service = await startService({ RATE_LIMIT_ADDRESS: most, RATE_LIMIT_SECRET: most, RATE_LIMIT_PUBLISHABLE: most });
  tenant = await service.tenant();
  const made = await post('/v1/invoices', tenant.secretKey, JSON.stringify(exampleOf(INVOICE, 'input')));
  invoiceId = ((await made.json()) as { id: string }).id;
});
afterAll(() => service.close());

const KIB = 1024;
/** Texts that cost work by their form, up to so many bytes. Each ends with something else, so that a search goes on to the end. */
const WORST: Readonly<Record<string, (bytes: number) => string>> = {
  // Normalization sorts each run of marks by their classes.
  marks: (bytes) => `a${'\u0315\u0300'.repeat(bytes / 4 - 4)}@example.com`,
  slashes: (bytes) => `${'/'.repeat(bytes - 1)}x`,
  brackets: (bytes) => `${'[1]'.repeat(bytes / 3 - 1)}x`,
  spaces: (bytes) => `x${' '.repeat(bytes - 2)}x`,
  dots: (bytes) => `${'a.'.repeat(bytes / 2 - 8)}a@${'b.'.repeat(4)}`,
  ats: (bytes) => `${'@'.repeat(bytes - 4)}a.b`,
  joined: (bytes) => '\u{1f468}\u200d'.repeat(bytes / 7 - 1),
  commas: (bytes) => `${'a;q=0.1,'.repeat(bytes / 8 - 1)}x`,
  percent: (bytes) => '%61'.repeat(bytes / 3 - 1),
  digits: (bytes) => '9'.repeat(bytes),
};

const post = (path: string, token: string | null, body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    method: 'POST',
    headers: {
      ...(typeof body === 'string' && { 'Content-Type': 'application/json' }),
      ...(token && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body,
  });

/** The longest CPU time that a turn of the event loop takes while a request is answered, milliseconds; of several tries the least. */
async function holdOf(request: () => Promise<Response>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let nth = 0; nth < TRIES && least > MOST_MS; nth++) {
    const cpu = () => {
      const { user, system } = process.threadCpuUsage();
      return (user + system) / 1000;
    };
    let [longest, last, over] = [0, cpu(), false];
    const turn = () => {
      const now = cpu();
      longest = Math.max(longest, now - last);
      last = now;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    await request().then(
      (response) => response.arrayBuffer(),
      () => null,
    );
    await new Promise((resolve) => setImmediate(resolve));
    over = true;
    least = Math.min(least, longest);
  }
  return Math.round(least);
}

/** The requests that hold the loop for too long, with the time. */
async function tooLong(requests: Iterable<readonly [string, () => Promise<Response>]>): Promise<string[]> {
  const found: string[] = [];
  for (const [name, request] of requests) {
    const ms = await holdOf(request);
    if (ms > MOST_MS) found.push(`${name}: ${ms} ms`);
  }
  return found;
}

/** The value with another one in the place of each of its texts in turn, and as the name of a member of each object. */
function* replaced(value: unknown, text: string, path = ''): Generator<[path: string, changed: unknown]> {
  if (typeof value === 'string') yield [path, text];
  else if (Array.isArray(value))
    for (const [path_, changed] of replaced(value[0], text, `${path}.0`)) yield [path_, [changed]];
  else if (typeof value === 'object' && value !== null) {
    yield [`${path}.*`, { ...value, [text]: 'x' }];
    for (const [name, member] of Object.entries(value))
      for (const [path_, changed] of replaced(member, text, `${path}.${name}`))
        yield [path_, { ...value, [name]: changed }];
  }
}

/** A value of the type of each input of a JSON schema that is needed here. */
function sampleOfJson(part: z.core.JSONSchema.JSONSchema): unknown {
  const { type, properties = {}, items, enum: members } = part;
  if (members) return members[0];
  if (type === 'array') return [sampleOfJson(items as z.core.JSONSchema.JSONSchema)];
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, sampleOfJson(each as z.core.JSONSchema.JSONSchema)]),
    );
  return type === 'boolean' ? true : type === 'number' || type === 'integer' ? 1 : 'x';
}

function* bodies(
  path: string,
  token: string | null,
  sample: unknown,
  bytes: number,
  headers: Record<string, string> = {},
): Generator<readonly [string, () => Promise<Response>]> {
  for (const [kind, make] of Object.entries(WORST))
    for (const [where, changed] of replaced(sample, make(bytes))) {
      const body = JSON.stringify(changed);
      yield [`${path} ${where} ${kind}`, () => post(path, token, body, headers)];
    }
}

it('in each text of the bodies of REST', async () => {
  const endpoint = { url: 'https://example.com/', events: ['invoice.accepted'], description: 'x' };
  expect(Object.keys(endpoint)).toEqual(Object.keys(createEndpointInput.shape));
  const invoice = { ...exampleOf(INVOICE, 'input'), metadata: { a: 'b' } };
  const most = 1000 * KIB;
  expect(await tooLong(bodies('/v1/invoices', tenant.secretKey, invoice, most))).toEqual([]);
  expect(await tooLong(bodies('/v1/webhook_endpoints', tenant.secretKey, endpoint, most))).toEqual([]);
});

/** The paths that take the inputs of accounts. */
const ACCOUNT_PATHS: Readonly<Record<keyof typeof accountInputs & `${string}Input`, string>> = {
  signInInput: '/auth/sign-in',
  acceptInvitationInput: '/auth/accept-invitation',
  readInvitationInput: '/auth/invitation',
  changePasswordInput: '/auth/change-password',
  endSessionInput: '/auth/sessions/end',
  renameInput: '/auth/change-name',
  newAddressInput: '/auth/new-address',
  confirmAddressInput: '/auth/new-address/confirm',
  requestResetInput: '/auth/request-password-reset',
  resetPasswordInput: '/auth/reset-password',
  passwordInput: '/auth/codes/begin',
  codeInput: '/auth/sign-in/code',
  addPasskeyInput: '/auth/passkeys/add',
  removePasskeyInput: '/auth/passkeys/remove',
  passkeySignInInput: '/auth/sign-in/passkey',
  noInput: '/auth/sign-in/passkey/begin',
};

it('in each text that accounts take, also without an account', async () => {
  const headers = { Origin: service.url, 'Sec-Fetch-Site': 'same-origin' };
  const inputs = new Map<string, unknown>(Object.entries(accountInputs));
  for (const [name, path] of Object.entries(ACCOUNT_PATHS)) {
    const input = inputs.get(name) as z.ZodType;
    const sample = sampleOfJson(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }));
    expect(await tooLong(bodies(path, null, sample, 60 * KIB, headers)), name).toEqual([]);
  }
});

/** A value of each input type, with all its members. */
function sampleOf(type: GraphQLInputType): unknown {
  if (isNonNullType(type)) return sampleOf(type.ofType);
  if (isListType(type)) return [sampleOf(type.ofType)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (isInputObjectType(type))
    return Object.fromEntries(Object.values(type.getFields()).map((field) => [field.name, sampleOf(field.type)]));
  if (type.name === 'Metadata') return { a: 'b' };
  return ['Int', 'Float', 'Centimes', 'SafeInt'].includes(type.name) ? 1 : type.name === 'Boolean' ? true : 'x';
}

it('in each text of the variables of GraphQL, as a secret key and as a publishable key', async () => {
  const most = 900 * KIB;
  const texts = [WORST.marks, WORST.brackets, WORST.dots].map((make) => make?.(most) ?? '');
  for (const [operation, root] of [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
  ] as const) {
    for (const field of Object.values(root?.getFields() ?? {})) {
      if (field.args.length === 0) continue;
      const declared = field.args.map(({ name, type }) => `$${name}: ${type}`).join(', ');
      const given = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
      const selection = isCompositeType(getNamedType(field.type)) ? '{ __typename }' : '';
      const query = `${operation} (${declared}) { ${field.name}(${given}) ${selection} }`;
      const sample = Object.fromEntries(field.args.map(({ name, type }) => [name, sampleOf(type)]));
      const requests = texts.flatMap((text) =>
        [...replaced(sample, text)].flatMap(([where, variables]) => {
          const body = JSON.stringify({ query, variables });
          return [tenant.secretKey, tenant.publishableKey].map(
            (key) => [`${field.name} ${where}`, () => post('/graphql', key, body)] as const,
          );
        }),
      );
      expect(await tooLong(requests)).toEqual([]);
    }
  }
});

it('in lists and documents of GraphQL', async () => {
  const validate = 'mutation ($draft: InvoiceDraft!) { validateInvoice(input: $draft) { __typename } }';
  const lines = Array.from({ length: 300_000 }, () => ({}));
  const fields = 'dgiId '.repeat(2300);
  const documents = {
    'many empty lines': { query: validate, variables: { draft: { lines } } },
    'an unused fragment': { query: `{ __typename } fragment A on Invoice { ${fields} }` },
    'a used fragment': { query: `{ invoice(id: "x") { ...A } } fragment A on Invoice { ${fields} }` },
    'many fragments': {
      query: `{ invoice(id: "x") { ${Array.from({ length: 450 }, (_, i) => `...A${i}`).join(' ')} } } ${Array.from({ length: 450 }, (_, i) => `fragment A${i} on Invoice { id }`).join(' ')}`,
    },
    'many inline fragments': { query: `{ invoice(id: "x") { ${'... { id } '.repeat(900)} } }` },
    'many operations': { query: Array.from({ length: 500 }, (_, i) => `query A${i} { a: __typename }`).join(' ') },
    'many aliases of an argument': {
      query: `{ ${Array.from({ length: 9 }, (_, i) => `a${i}: invoice(id: "x") { ${'id '.repeat(50)} }`).join(' ')} }`,
    },
  };
  const requests = Object.entries(documents).flatMap(([name, request]) => {
    const body = JSON.stringify(request);
    return [tenant.secretKey, tenant.publishableKey].flatMap((key) =>
      ['/graphql', '/graphql/stream'].map((path) => [`${path} ${name}`, () => post(path, key, body)] as const),
    );
  });
  expect(await tooLong(requests)).toEqual([]);
});

it('in the parts of a GraphQL request', async () => {
  const request = { query: '{ __typename }', operationName: 'x', variables: { a: 'b' }, extensions: { a: 'b' } };
  expect(await tooLong(bodies('/graphql', tenant.publishableKey, request, 900 * KIB))).toEqual([]);
  expect(await tooLong(bodies('/graphql/stream', tenant.publishableKey, request, 900 * KIB))).toEqual([]);
});

it('in headers, paths and query strings', async () => {
  const most = 14 * KIB;
  const names = [
    ...['Accept', 'Accept-Encoding', 'Accept-Language', 'Authorization', 'Cookie', 'If-None-Match', 'Range', 'Origin'],
    ...['Idempotency-Key', 'X-Forwarded-For', 'Forwarded', 'traceparent', 'tracestate', 'User-Agent', 'Content-Type'],
    ...['Last-Event-ID', 'Fatoura-Tenant', 'Fatoura-Environment', 'Access-Control-Request-Headers', 'Sec-Fetch-Site'],
  ];
  const paths = [
    '/',
    '/v1/',
    '/v2/',
    '/v1/invoices/',
    '/files/',
    `/files/${invoiceId}/`,
    '/verify/',
    '/i/',
    '/tenants/',
  ];
  const more = ['/ops/', '/ops/jobs/', '/assets/', '/docs/', '/embed/', '/graphql/', '/account/', '/x/'];
  const queries = ['status', 'limit', 'starting_after', 'created_after', 'client_secret', 'lang', 'query'];
  const Authorization = `Bearer ${tenant.secretKey}`;
  const requests = Object.entries(WORST).flatMap(([kind, make]) => {
    const text = encodeURI(make(most)).slice(0, most);
    const plain = make(most)
      .replaceAll(/[^\x20-\x7e]/g, 'é')
      .slice(0, most);
    const raw = kind === 'slashes' || kind === 'brackets' || kind === 'dots' ? make(most) : text;
    return [
      ...names.map((name) => [
        `header ${name} ${kind}`,
        () =>
          fetch(`${service.url}/v1/invoices/${invoiceId}`, {
            headers: { Authorization, [name]: name === 'Authorization' ? `Bearer ${plain}` : plain },
          }),
      ]),
      ...[...paths, ...more].map((path) => [
        `path ${path} ${kind}`,
        () => fetch(service.url + path + raw, { headers: { Authorization } }),
      ]),
      ...queries.map((name) => [
        `query ${name} ${kind}`,
        () => fetch(`${service.url}/v1/invoices?${name}=${text}`, { headers: { Authorization } }),
      ]),
      [`query name ${kind}`, () => fetch(`${service.url}/v1/invoices?${text}=x`, { headers: { Authorization } })],
    ] as [string, () => Promise<Response>][];
  });
  requests.push([
    'thousands of parameters',
    () => fetch(`${service.url}/v1/invoices?${'a&'.repeat(most / 2)}`, { headers: { Authorization } }),
  ]);
  expect(await tooLong(requests)).toEqual([]);
});

it('in a file to be verified', async () => {
  const requests = Object.entries(WORST).map(([kind, make]) => {
    const content = `<?xml version="1.0"?><Invoice ${make(900 * KIB)}`;
    return [
      `file ${kind}`,
      () => {
        const form = new FormData();
        form.append('file', new Blob([content], { type: 'application/xml' }), 'x.xml');
        return post(`/verify/${invoiceId}`, null, form);
      },
    ] as const;
  });
  expect(await tooLong(requests)).toEqual([]);
});
