import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/graphql/limits.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startService, type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const times = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');
/** An operation with this number of field levels. */
const levels = (count: number) => `{ webhookEvents { edges { node { ${nested(count - 3)} } } } }`;
const nested = (count: number): string =>
  count <= 1 ? 'id' : `deliveries { ${count <= 2 ? 'id' : `event { ${nested(count - 2)} }`} }`;

/** The message of the first error on both transports. */
async function refusalsOf(query: string, variables: Record<string, unknown> = {}): Promise<(string | null)[]> {
  const posted = await client.graphql(query, variables);
  const streamed = await client.post('/graphql/stream', { query, variables }, { Accept: 'text/event-stream' });
  const ofStream = /"message":("(?:[^"\\]|\\.)*")/.exec(
    typeof streamed.body === 'string' ? streamed.body : JSON.stringify(streamed.body),
  );
  if (posted.body.errors) expect(posted.body.data).toBeUndefined();
  return [posted.body.errors?.[0].message ?? null, ofStream ? JSON.parse(ofStream[1] ?? '') : null];
}

it('who may run nothing of an operation is told so before its variables are read', async () => {
  const { body: invoice } = await client.post('/v1/invoices', invoiceBody());
  const query = 'mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { valid } }';
  for (const token of [tenant.publishableKey, invoice.client_secret])
    for (const path of ['/graphql', '/graphql/stream'])
      for (const input of [5, { lines: Array(LIMITS.listItems + 1).fill({}) }, { unknown: 1 }]) {
        const events = path.endsWith('stream') ? { Accept: 'text/event-stream' } : {};
        const { body } = await new Client(service.url, token).post(path, { query, variables: { input } }, events);
        const text = typeof body === 'string' ? (/^data: (\{.*)$/m.exec(body)?.[1] ?? '{}') : JSON.stringify(body);
        const [error] = JSON.parse(text).errors;
        expect(error.extensions, `${path} ${JSON.stringify(input).slice(0, 40)}`).toMatchObject({
          code: 'insufficient_scope',
          status: 403,
        });
      }
});

it('more list items than the variables may have are refused with one error, on both transports', async () => {
  const query = 'mutation ($input: InvoiceDraft!) { validateInvoice(input: $input) { valid } }';
  const refused = await refusalsOf(query, { input: { lines: Array(3001).fill({}) } });
  for (const refusal of refused) expect(refusal).toContain('The lists of the variables have too many items in all.');
  const { body } = await client.graphql(query, { input: { lines: Array(3001).fill({}) } });
  expect(body.errors).toHaveLength(1);
});

describe('members that stand for nothing', () => {
  const QUERY = 'query A { __typename }';

  it.each([
    ['an empty operationName', { operationName: '' }],
    ['the empty arrays of PHP', { variables: [], extensions: [] }],
    ['null', { operationName: null, variables: null, extensions: null }],
  ])('%s is as good as none', async (_what, members) => {
    expect((await client.post('/graphql', { query: QUERY, ...members })).body).toEqual({
      data: { __typename: 'Query' },
    });
    const streamed = await client.post(
      '/graphql/stream',
      { query: QUERY, ...members },
      { Accept: 'text/event-stream' },
    );
    expect(streamed.body).toContain('data: {"data":{"__typename":"Query"}}');
  });

  it.each(['operationName=', 'operationName=&variables=&extensions='])('%s in a query string, too', async (rest) => {
    const query = `?query=${encodeURIComponent(QUERY)}&${rest}`;
    expect((await client.get(`/graphql${query}`)).body).toEqual({ data: { __typename: 'Query' } });
    const streamed = await client.get(`/graphql/stream${query}`, { Accept: 'text/event-stream' });
    expect(streamed.body).toContain('data: {"data":{"__typename":"Query"}}');
  });

  it.each([{ variables: [1] }, { variables: [[]] }, { extensions: [{}] }])(
    'other arrays are refused: %j',
    async (members) => {
      expect((await client.post('/graphql', { query: QUERY, ...members })).status).toBe(400);
    },
  );
});

describe('limits', () => {
  it.each([
    ['tokens', `{ ${times(LIMITS.tokens, () => 'id')} }`, `${LIMITS.tokens} tokens`],
    ['characters', `{ __typename } # ${'x'.repeat(LIMITS.characters)}`, 'at most 100,000 characters'],
    ['fields at the root', `{ ${times(11, (i) => `a${i}: __typename`)} }`, 'at most 10 fields'],
    ['fields in all', `{ invoices { ${times(501, () => '__typename')} } }`, 'at most 500 fields'],
    [
      'selections as written, used or not',
      `{ __typename } fragment A on Invoice { ${times(601, () => 'id')} }`,
      'at most 600 selections',
    ],
    ['fragments', `{ __typename } ${times(51, (i) => `fragment A${i} on Invoice { id }`)}`, 'at most 50 fragments'],
    ['aliases', `{ invoices { ${times(51, (i) => `a${i}: __typename`)} } }`, 'at most 50 aliases'],
    ['levels', levels(13), 'at most 12 levels'],
    // The parser's stack or the limit of tokens ends first: both are errors of the document.
    ['levels that no stack holds', '{a'.repeat(20_000) + '}'.repeat(20_000), ''],
    ['lists in lists', `{ invoices(first: ${'['.repeat(2400)}${']'.repeat(2400)}) { edges { cursor } } }`, ''],
    [
      'levels of introspection',
      `{ __type(name: "Invoice") { fields { type { fields { type { fields { type { fields { name } } } } } } } } }`,
      'introspection depth',
    ],
  ])('of %s', async (_name, query, message) => {
    for (const refusal of await refusalsOf(query)) expect(refusal).toContain(message);
  });

  it('allow an operation just within them, and the introspection queries of tools', async () => {
    for (const query of [
      levels(7),
      `{ invoices { ${times(50, (i) => `a${i}: __typename`)} } }`,
      `{ ${times(10, (i) => `a${i}: __typename`)} }`,
      getIntrospectionQuery({
        inputValueDeprecation: true,
        specifiedByUrl: true,
        schemaDescription: true,
        directiveIsRepeatable: true,
        oneOf: true,
      }),
    ]) {
      expect(await refusalsOf(query)).toEqual([null, null]);
    }
  });

  it('are checked before validation, which compares all fields of the same name with one another', async () => {
    const query = `{ ${times(400, (i) => `same: invoice(id: "${i}") { id }`)} }`;
    for (const refusal of await refusalsOf(query)) expect(refusal).toContain('at most 10 fields');
  });

  it('answer 400 with the code invalid_request over HTTP', async () => {
    const query = levels(13);
    const { status, body } = await client.post('/graphql', { query }, { Accept: 'application/graphql-response+json' });
    expect([status, body.errors[0].extensions]).toMatchObject([400, { code: 'invalid_request', status: 400 }]);
  });
});

describe('the text of a refusal', () => {
  // Each unknown field causes a message of its own, which quotes the whole input.
  const unknown = Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`unknown${index}`, 1]));
  const create = 'mutation ($v: CreateInvoiceInput!) { createInvoice(input: $v) { __typename } }';
  const list = 'query ($v: InvoiceStatus) { invoices(status: $v) { nodes { id } } }';

  it.each([
    ['a long text beside unknown fields', create, { ...unknown, amount: 1, currency: '\\'.repeat(300_000) }],
    ['a long text for an enum', list, '"'.repeat(500_000)],
    ['a long list for an enum', list, Array.from({ length: 10_000 }, () => ({}))],
  ])('does not contain %s', async (_name, query, v) => {
    for (const [path, Accept] of [
      ['/graphql', 'application/json'],
      ['/graphql/stream', 'text/event-stream'],
    ] as const) {
      const { body } = await client.post(path, { query, variables: { v } }, { Accept });
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      expect(text).toContain('got invalid value');
      expect(text.length).toBeLessThan(500_000);
    }
  });

  it('still names the invalid field', async () => {
    const v = { amount: 1, currency: 'x'.repeat(10_000), customer: { ice: 1 }, lines: [{ quantity: 'x' }] };
    const { body } = await client.graphql(create, { v });
    const params = body.errors.map(({ extensions }: { extensions: { param: string } }) => extensions.param);
    expect(params).toEqual(expect.arrayContaining(['customer.ice', 'customer.name', 'lines.0.quantity']));
  });

  it.each([
    [
      'names that a JavaScript object cannot have',
      'mutation { then: deleteWebhookEndpoint(id: "we_1") { __typename } }',
      'then',
    ],
    ['names that would be lost', '{ tenant { __proto__: id } }', '__proto__'],
    ['lists in lists', `{ invoice(id: ${'['.repeat(2400)}1${']'.repeat(2400)}) { id } }`, ''],
  ])('about %s is the same on both transports', async (_name, query, told) => {
    const [posted, streamed] = await refusalsOf(query);
    expect(posted).toEqual(streamed);
    expect(posted).toContain(told);
  });
});

describe('variables with 29,000 unknown fields', () => {
  const cpuMs = async (act: () => Promise<unknown>): Promise<number> => {
    const before = process.threadCpuUsage();
    await act();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  const create = 'mutation ($v: CreateInvoiceInput!) { createInvoice(input: $v) { __typename } }';
  const count = 'query ($v: WebhookResendSelection!) { webhookResendCount(selection: $v) { __typename } }';
  const unknown = Object.fromEntries(Array.from({ length: 29_000 }, (_, index) => [`${index.toString(36)}_`, 1]));

  it.each([
    ['a mutation', create],
    ['a query, which is compiled the second time', count],
  ])('cost about as much as if they were not used: %s', async (_name, query) => {
    for (const [path, Accept] of [
      ['/graphql', 'application/json'],
      ['/graphql/stream', 'text/event-stream'],
    ] as const) {
      const ask = (asked: string) => client.post(path, { query: asked, variables: { v: unknown } }, { Accept });
      const unused = 'mutation { deleteWebhookEndpoint(id: "we_1") { __typename } }';
      await ask(unused);
      // The least of three, because other work of this process may come in between.
      const [usual, first, second] = [[], [], []] as [number[], number[], number[]];
      for (let round = 0; round < 3; round++) {
        usual.push(await cpuMs(() => ask(unused)));
        for (const times of [first, second]) times.push(await cpuMs(() => ask(`${query} # ${round}`)));
      }
      for (const times of [first, second]) expect(Math.min(...times)).toBeLessThan(4 * Math.min(...usual));
      const { body } = await ask(query);
      const { errors } = typeof body === 'string' ? JSON.parse(/data: (.*)/.exec(body)?.[1] ?? '') : body;
      expect(errors).toHaveLength(LIMITS.errors);
    }
  });
});

describe('requests that a page of another site can send without a preflight', () => {
  const mutation = 'mutation { deleteWebhookEndpoint(id: "we_1") { __typename } }';
  const headers = () => ({ Authorization: `Bearer ${tenant.secretKey}` });

  it.each([
    ['text/plain', JSON.stringify({ query: mutation })],
    ['application/x-www-form-urlencoded', new URLSearchParams({ query: mutation }).toString()],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n{}\r\n--x--\r\n',
    ],
    ['application/graphql', mutation],
    ['application/json, text/plain', JSON.stringify({ query: mutation })],
    ['text/plain; charset=application/json', JSON.stringify({ query: mutation })],
    ['application/json; profile=x; charset=latin1', JSON.stringify({ query: mutation })],
  ])('run nothing: POST of %s', async (type, body) => {
    // Even with a credential, which such a request cannot carry.
    const answer = await client.request('POST', '/graphql', body, { 'Content-Type': type });
    expect([answer.status, answer.body.error.code]).toEqual([415, 'invalid_request']);
    const streamed = await client.request('POST', '/graphql/stream', body, {
      'Content-Type': type,
      Accept: 'text/event-stream',
    });
    expect(streamed.status).toBe(415);
  });

  it.each([
    'application/json;',
    'application/json; version=1',
    'Application/JSON ; charset="UTF-8"; odata=verbose',
    'application/json; charset=utf8;;',
    'application/json;charset=',
  ])('are not kept out by what a media type of JSON may have besides: %s', async (type) => {
    const body = JSON.stringify({ query: '{ __typename }' });
    for (const [path, Accept] of [
      ['/graphql', 'application/json'],
      ['/graphql/stream', 'text/event-stream'],
    ] as const) {
      const answer = await client.request('POST', path, body, { 'Content-Type': type, Accept });
      expect([path, answer.status]).toEqual([path, 200]);
    }
    const created = await client.request('POST', '/v1/invoices', JSON.stringify(invoiceBody()), {
      'Content-Type': type,
    });
    expect(created.status).toBe(201);
  });

  it('run no mutation: GET', async () => {
    const address = `${service.url}/graphql?query=${encodeURIComponent(mutation)}`;
    const answer = await fetch(address, { headers: headers() });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    const stream = `${service.url}/graphql/stream?query=${encodeURIComponent(mutation)}`;
    expect((await fetch(stream, { headers: { ...headers(), Accept: 'text/event-stream' } })).status).toBe(405);
  });

  it('have no credential, because only a header carries one', async () => {
    expect((await fetch(`${service.url}/graphql?query={__typename}`)).status).toBe(401);
    expect((await fetch(`${service.url}/graphql?query={__typename}&token=${tenant.secretKey}`)).status).toBe(401);
  });
});

it('a batch runs nothing', async () => {
  const endpoints = async () => (await client.get('/v1/webhook_endpoints')).body.data.length;
  const query = `mutation { createWebhookEndpoint(input: { url: "https://example.com/x", events: [invoice_accepted] }) { __typename } }`;
  const { status, body } = await client.post('/graphql', [{ query }, { query }]);
  expect([status, body.errors[0].message, await endpoints()]).toEqual([400, 'Batching is not supported.', 0]);
});

it('a defect is reported with the request id only', async () => {
  const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
  await service.app.store.db.collection('invoices').updateOne({ _id: id as never }, { $set: { amount: 'secret' } });
  const { headers, body } = await client.graphql(`{ invoice(id: "${id}") { amount } }`);
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining(headers.get('request-id') ?? 'no id'),
    extensions: { code: 'internal_error', status: 500 },
  });
  expect(JSON.stringify(body)).not.toContain('secret');
});

describe('without GraphiQL and introspection', () => {
  let closed: TestService;
  let other: Client;
  beforeAll(async () => {
    closed = await startService({ GRAPHQL_INTROSPECTION: 'false', GRAPHIQL: 'false' });
    other = new Client(closed.url, (await closed.tenant()).secretKey);
  });
  afterAll(() => closed.close());

  it('the GraphiQL page is not served', async () => {
    const page = await fetch(`${closed.url}/graphql`, { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(401);
  });

  it('the schema is neither introspected nor revealed by suggestions', async () => {
    for (const query of [getIntrospectionQuery(), '{ __type(name: "Invoice") { name } }']) {
      const { body } = await other.graphql(query);
      expect(body.errors[0].message).toContain('introspection');
      expect(body.data).toBeUndefined();
    }
    expect((await other.graphql('{ __typename }')).body.data).toEqual({ __typename: 'Query' });
    const suggesting = [
      { query: '{ invoicez { edges { cursor } } }' },
      {
        query: 'query ($s: InvoiceStatus) { invoices(status: $s) { edges { cursor } } }',
        variables: { s: 'acceptet' },
      },
    ];
    for (const each of suggesting) {
      expect((await client.post('/graphql', each)).body.errors[0].message).toContain('Did you mean');
      expect((await other.post('/graphql', each)).body.errors[0].message).not.toContain('Did you mean');
      const streamed = await other.post('/graphql/stream', each, { Accept: 'text/event-stream' });
      expect(streamed.body).toContain('message');
      expect(streamed.body).not.toContain('Did you mean');
    }
  });

  it('a value that looks like a suggestion is processed quickly', async () => {
    const variables = { s: 'Did you mean '.repeat(75_000) };
    const query = 'query ($s: InvoiceStatus) { invoices(status: $s) { edges { cursor } } }';
    const { body } = await other.post('/graphql', { query, variables });
    expect(body.errors[0].message).toContain('got invalid value; Expected type "InvoiceStatus".');
  });
});
