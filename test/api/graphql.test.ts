import { get, type IncomingMessage } from 'node:http';
import { getIntrospectionQuery } from 'graphql';
import { createClient } from 'graphql-sse';
import { describe, expect, it } from 'vitest';
import { Client, invoiceBody, invoiceFor, messagesOf } from '../support/client.ts';
import { holdDecision, SLOW_CUSTOMER } from '../support/held-decision.ts';
import { type TestService, type TestTenant, withSharedService } from '../support/service.ts';

let service: TestService;
let tenant: TestTenant;
let client: Client;

withSharedService.beforeAll(async ({ service: shared }) => {
  service = shared;
  tenant = await service.tenant();
  client = new Client(service.url, tenant.secretKey);
});

const CREATE = `mutation ($input: CreateInvoiceInput!, $key: String) {
  createInvoice(input: $input, idempotencyKey: $key) {
    ... on CreateInvoicePayload { replayed clientSecret invoice { id status amount lines { taxRate amount } } }
    ... on Error { __typename code message param status }
    ... on InvalidInputError { problems { code message param status } }
  }
}`;
const input = (changes: object = {}) => ({
  amount: 12000,
  currency: 'MAD',
  customer: { ice: '001234567000089', name: 'Atlas', address: '1, rue X', email: 'a@example.com' },
  lines: [{ description: 'Conseil', quantity: 1, unitPrice: 10000 }],
  ...changes,
});

describe('createInvoice', () => {
  it('replays the invoice as it was created, in every field', async () => {
    const all = `id status amount currency number customer { ice name address email } lines { amount } metadata
      documents { xml { url } pdf { url } } dgiId rejectionReason createdAt updatedAt`;
    const create = async () => {
      const query = `mutation ($input: CreateInvoiceInput!) {
        createInvoice(input: $input, idempotencyKey: "as created") {
          ... on CreateInvoicePayload { replayed clientSecret invoice { ${all} } }
        }
      }`;
      return (await client.graphql(query, { input: input() })).body.data.createInvoice;
    };
    const first = await create();
    await client.settled(first.invoice.id);
    expect(await create()).toEqual({ ...first, replayed: true });
    expect([first.replayed, first.invoice.number]).toEqual([false, null]);
  });

  it('creates an invoice that REST reads', async () => {
    const { status, body } = await client.graphql(CREATE, { input: input({ metadata: { a: 'b' } }) });
    expect(status).toBe(200);
    const { invoice, clientSecret, replayed } = body.data.createInvoice;
    expect({ invoice, replayed }).toEqual({
      invoice: {
        id: expect.stringMatching(/^inv_/),
        status: 'pending',
        amount: 12000,
        lines: [{ taxRate: 20, amount: 10000 }],
      },
      replayed: false,
    });
    const read = await new Client(service.url, clientSecret).get(`/v1/invoices/${invoice.id}`);
    expect(read.body).toMatchObject({ id: invoice.id, metadata: { a: 'b' }, amount: 12000 });
  });

  it('shares idempotency with REST', async () => {
    const rest = await client.post('/v1/invoices', invoiceBody(), { 'Idempotency-Key': 'shared' });
    const plain = input({ customer: { ice: '001234567000089', name: 'Atlas Distribution SARL' } });
    const { body } = await client.graphql(CREATE, { input: plain, key: 'shared' });
    expect(body.data.createInvoice).toMatchObject({ replayed: true, invoice: { id: rest.body.id } });
  });

  it('reports every problem of a status at once, with REST’s codes', async () => {
    const wrong = input({ currency: 'EUR', lines: [{ description: '', quantity: 1, unitPrice: 1 }] });
    const structure = await client.graphql(CREATE, { input: wrong });
    expect([structure.status, structure.body.errors]).toEqual([200, undefined]);
    const { problems, ...first } = structure.body.data.createInvoice;
    expect(first).toEqual({
      __typename: 'InvalidInputError',
      code: 'invalid_request',
      message: expect.stringContaining('MAD'),
      param: 'currency',
      status: 400,
    });
    expect(problems).toEqual([
      { ...problems[0], code: 'invalid_request', param: 'currency', status: 400, message: first.message },
      { ...problems[1], code: 'invalid_request', param: 'lines.0.description', status: 400 },
    ]);
    const rules = await client.graphql(CREATE, { input: input({ amount: 5, customer: { ice: 'x', name: 'A' } }) });
    expect(rules.body.data.createInvoice).toMatchObject({ __typename: 'InvalidInputError', status: 422 });
    expect(rules.body.data.createInvoice.problems.map((each: { code: string }) => each.code)).toEqual([
      'amount_too_small',
      'invalid_ice',
    ]);
  });

  it('refuses an ambiguous idempotency key', async () => {
    for (const key of ['', 'k'.repeat(256), '\ud800', 'a\u0000']) {
      const { body } = await client.graphql(CREATE, { input: input(), key });
      expect(body.data.createInvoice).toMatchObject({
        __typename: 'InvalidInputError',
        code: 'invalid_request',
        param: 'idempotencyKey',
        status: 400,
      });
    }
  });

  it('returns an idempotency conflict as a typed error', async () => {
    await client.graphql(CREATE, { input: input(), key: 'taken' });
    const { body } = await client.graphql(CREATE, { input: input({ metadata: { a: 'b' } }), key: 'taken' });
    expect(body.data.createInvoice).toEqual({
      __typename: 'IdempotencyConflictError',
      code: 'idempotency_conflict',
      message: expect.stringContaining('different payload'),
      param: 'idempotencyKey',
      status: 409,
    });
  });

  it('refuses a metadata key named __proto__ instead of dropping it', async () => {
    const metadata = JSON.parse('{"__proto__":"x"}');
    const { body } = await client.graphql(CREATE, { input: { ...input(), metadata } });
    expect(body.data.createInvoice).toMatchObject({ code: 'invalid_request', param: 'metadata.__proto__' });
  });

  it('checks the scope before the input', async () => {
    const { body } = await new Client(service.url, tenant.publishableKey).graphql(CREATE, {
      input: input({ currency: 'EUR' }),
    });
    expect(body.errors[0].extensions).toMatchObject({ code: 'insufficient_scope', status: 403 });
  });

  it('accepts amounts beyond Int', async () => {
    const amount = 2 ** 53 - 1;
    const lines = [{ description: 'x', quantity: 1, unitPrice: amount, taxRate: 0 }];
    const { body } = await client.graphql(CREATE, { input: input({ amount, lines }) });
    expect(body.data.createInvoice.invoice.amount).toBe(amount);
  });

  it('reports an amount far below the minimum as amount_too_small', async () => {
    const answers = [
      await client.graphql(CREATE, { input: input({ amount: -1e300 }) }),
      await client.graphql(
        'mutation { createInvoice(input: { amount: -9007199254740993, currency: "MAD", customer: { ice: "001234567000089", name: "A" }, lines: [{ description: "x", quantity: 1, unitPrice: 1 }] }) { ... on Error { code param status } } }',
      ),
    ];
    for (const { body } of answers)
      expect(body.data?.createInvoice).toMatchObject({ code: 'amount_too_small', param: 'amount', status: 422 });
  });
});

const READ =
  'query ($id: ID!, $clientSecret: String) { invoice(id: $id, clientSecret: $clientSecret) { id number customer { name address email } documents { xml { url } } } }';

describe('invoice', () => {
  it('shows address and email only to a secret key', async () => {
    const { body } = await client.graphql(CREATE, { input: input() });
    const { invoice, clientSecret } = body.data.createInvoice;
    await client.settled(invoice.id);
    const customerAs = async (token: string, secret?: string) =>
      (await new Client(service.url, token).graphql(READ, { id: invoice.id, clientSecret: secret })).body.data.invoice
        .customer;
    expect(await customerAs(tenant.secretKey)).toEqual({ name: 'Atlas', address: '1, rue X', email: 'a@example.com' });
    const hidden = { name: 'Atlas', address: null, email: null };
    expect(await customerAs(clientSecret)).toEqual(hidden);
    expect(await customerAs(tenant.publishableKey, clientSecret)).toEqual(hidden);
  });

  it('is refused with the same errors as in REST', async () => {
    const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
    const stranger = (await service.tenant()).secretKey;
    const error = async (token: string) =>
      (await new Client(service.url, token).graphql(READ, { id })).body.errors[0].extensions;
    expect(await error(stranger)).toMatchObject({ code: 'resource_not_found', status: 404 });
    expect(await error(tenant.publishableKey)).toMatchObject({ code: 'insufficient_scope', status: 403 });
    const unknown = await new Client(service.url, 'sk_test_unknown').graphql(READ, { id });
    expect([unknown.status, unknown.body.error.code]).toEqual([401, 'invalid_api_key']);
  });
});

describe('invoices', () => {
  const LIST = `query ($first: Int, $last: Int, $after: String, $before: String, $status: InvoiceStatus) {
    invoices(first: $first, last: $last, after: $after, before: $before, status: $status) {
      edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }`;

  it('is a Relay connection with the same pages as REST’s list', async () => {
    const mine = await service.tenant();
    const own = new Client(service.url, mine.secretKey);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await own.post('/v1/invoices', invoiceBody())).body.id);
    const page = async (variables: object) => {
      const { edges, pageInfo } = (await own.graphql(LIST, { ...variables })).body.data.invoices;
      return [
        edges.map(({ node }: { node: { id: string } }) => node.id),
        pageInfo.hasNextPage,
        pageInfo.hasPreviousPage,
      ];
    };
    expect(await page({ first: 2 })).toEqual([ids.slice(0, 2), true, false]);
    expect(await page({ first: 2, after: ids[1] })).toEqual([ids.slice(2, 4), true, true]);
    expect(await page({ first: 2, after: ids[3] })).toEqual([ids.slice(4), false, true]);
    expect(await page({ last: 2, before: ids[3] })).toEqual([ids.slice(1, 3), true, true]);
    expect(await page({ status: 'rejected' })).toEqual([[], false, false]);
    const refused = (await own.graphql(LIST, { first: 101 })).body.errors[0].extensions;
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'first' });
  });

  it('refuses unsupported arguments: last without before, first with before', async () => {
    const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
    for (const [variables, param] of [
      [{ last: 1 }, 'last'],
      [{ first: 1, last: 1 }, 'last'],
      [{ first: 1, before: id }, 'first'],
      [{ last: 101, before: id }, 'last'],
      [{ after: id, before: id }, 'before'],
      [{ after: 'inv_1' }, 'after'],
      [{ last: 1, before: 'inv_1' }, 'before'],
    ] as const) {
      const { body } = await client.graphql(LIST, variables);
      expect(body.errors?.[0].extensions).toMatchObject({ code: 'invalid_request', param, status: 400 });
      expect(body.errors[0].message).not.toMatch(/limit|starting_after|ending_before/);
    }
  });

  it('needs a secret key', async () => {
    const { body } = await new Client(service.url, tenant.publishableKey).graphql(LIST);
    expect(body.errors[0].extensions.code).toBe('insufficient_scope');
  });
});

const WATCH = `subscription ($id: ID!, $after: ID) {
  invoiceStatus(id: $id, afterEventId: $after) { eventId status dgiId rejectionReason }
}`;

describe('invoiceStatus', () => {
  it('over graphql-sse, distinct connections mode, with its own client', async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor(SLOW_CUSTOMER));
    const decide = await holdDecision(service, body.id);
    const sse = createClient({
      url: `${service.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${body.client_secret}` },
    });
    const seen = [];
    for await (const { data } of sse.iterate<{ invoiceStatus: { status: string } }>({
      query: WATCH,
      variables: { id: body.id },
    })) {
      if (seen.length === 0) await decide();
      seen.push(data?.invoiceStatus.status);
    }
    expect(seen).toEqual(['signing', 'transmitted', 'accepted']);
  });

  it('over graphql-sse, single connection mode', async () => {
    const { body } = await client.post('/v1/invoices', invoiceBody());
    const sse = createClient({
      url: `${service.url}/graphql/stream`,
      singleConnection: true,
      headers: { Authorization: `Bearer ${body.client_secret}` },
    });
    const seen = [];
    for await (const { data } of sse.iterate<{ invoiceStatus: { status: string } }>({
      query: WATCH,
      variables: { id: body.id },
    })) {
      seen.push(data?.invoiceStatus.status);
    }
    expect(seen.at(-1)).toBe('accepted');
    sse.dispose();
  });

  it('single connection mode: only the credential that reserved a stream can use it', async () => {
    const reserve = async (): Promise<string> => (await client.request('PUT', '/graphql/stream')).body;
    const attach = (token: string, key: string) =>
      fetch(`${service.url}/graphql/stream?token=${encodeURIComponent(token)}`, {
        headers: { Accept: 'text/event-stream', Authorization: `Bearer ${key}` },
      });
    const stranger = (await service.tenant()).secretKey;
    const token = await reserve();
    expect(token).toMatch(/^[\w-]{32}$/);
    for (const [guess, key] of [
      [token, stranger],
      [token, tenant.publishableKey],
      [`${token.slice(0, -1)}`, tenant.secretKey],
      ['constructor', stranger],
      ['__proto__', stranger],
    ] as const) {
      expect((await attach(guess, key)).status).toBe(404);
    }
    const own = await attach(token, tenant.secretKey);
    expect(own.status).toBe(200);
    await own.body?.cancel();
  });

  it("over Yoga's own Server-Sent Events", async () => {
    const { body } = await client.post('/v1/invoices', invoiceFor('999000000000102'));
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${body.client_secret}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: WATCH, variables: { id: body.id } }),
    });
    const messages = (await Array.fromAsync(messagesOf(response))).filter(({ data }) => data.data);
    expect(messages.at(-1)?.data.data.invoiceStatus).toMatchObject({ status: 'rejected', dgiId: null });
  });

  it('refuses any invoice except that of the client_secret', async () => {
    const [one, two] = [
      (await client.post('/v1/invoices', invoiceBody())).body,
      (await client.post('/v1/invoices', invoiceBody())).body,
    ];
    const sse = createClient({
      url: `${service.url}/graphql/stream`,
      headers: { Authorization: `Bearer ${one.client_secret}` },
    });
    const [answer] = await Array.fromAsync(sse.iterate({ query: WATCH, variables: { id: two.id } }));
    expect(answer?.errors?.[0]?.extensions).toMatchObject({ code: 'insufficient_scope', status: 403 });
  });
});

describe('/graphql', () => {
  it('shows GraphiQL to a browser without a credential', async () => {
    const page = await fetch(`${service.url}/graphql`, { headers: { Accept: 'text/html' } });
    const html = await page.text();
    expect([page.status, html.includes('YogaGraphiQL')]).toEqual([200, true]);
    // All assets come from npm packages, so the page works without access to other hosts.
    expect(html).not.toMatch(/<(?:script|link)[^>]+(?:src|href)=["']?https?:/);
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none';.*frame-ancestors 'none'/);
  });

  it.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 200, 'text/html'],
    ['*/*', 401, 'application/json'],
    ['application/graphql-response+json, text/html;q=0.5', 401, 'application/json'],
    ['text/event-stream', 401, 'application/json'],
  ])('answers a GET and a HEAD for %s with %i', async (accept, status, type) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${service.url}/graphql`, { method, headers: { Accept: accept } });
      await answer.arrayBuffer();
      expect([answer.status, answer.headers.get('content-type')?.split(';')[0]]).toEqual([status, type]);
    }
  });

  it('sends that page compressed, and not again to a browser that has it', async () => {
    const got = (headers: Record<string, string>) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        get(`${service.url}/graphql`, { headers: { Accept: 'text/html', ...headers } }, (response) => {
          response.resume().on('end', () => resolve(response));
        }).on('error', reject);
      });
    const [plain, small] = [await got({}), await got({ 'Accept-Encoding': 'br, gzip' })];
    expect([plain.headers['content-encoding'], small.headers['content-encoding']]).toEqual([undefined, 'gzip']);
    expect(Number(small.headers['content-length']) * 3).toBeLessThan(Number(plain.headers['content-length']));
    expect(small.headers.vary).toContain('Accept-Encoding');
    const again = await got({ 'If-None-Match': String(small.headers.etag) });
    expect([again.statusCode, again.headers['content-length']]).toEqual([304, undefined]);
  });

  it('needs a credential for every other request, including introspection', async () => {
    const { status, body } = await new Client(service.url, null).graphql('{ __typename }');
    expect([status, body.error.code]).toEqual([401, 'invalid_api_key']);
  });

  it('reports the error of an invalid document', async () => {
    const { body } = await client.graphql('{ nothing }');
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining('nothing'),
      extensions: { code: 'invalid_request', param: null, status: 400 },
    });
  });

  it('refuses many root fields, also by aliases and fragments', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: __typename`).join(' ');
    expect((await client.graphql(`{ ${fields(10)} }`)).body.errors).toBeUndefined();
    for (const query of [`{ ${fields(11)} }`, `{ ...F } fragment F on Query { ${fields(11)} }`]) {
      expect((await client.graphql(query)).body.errors[0].message).toContain('at most 10 fields');
      const streamed = await client.post('/graphql/stream', { query }, { Accept: 'text/event-stream' });
      expect(streamed.body).toContain('at most 10 fields');
    }
  });

  it('counts the fields of a fragment at each spread', async () => {
    const times = (count: number, alias: string, field: string) =>
      Array.from({ length: count }, (_, i) => `${alias}${i}: ${field}`).join(' ');
    const query = `{ invoices { ...A } }
      fragment A on InvoiceConnection { ${times(10, 'e', 'edges { ...B }')} }
      fragment B on InvoiceEdge { ${times(10, 'n', 'node { ...C }')} }
      fragment C on Invoice { ${times(10, 'i', 'id')} }`;
    expect((await client.graphql(query)).body.errors[0].message).toContain('at most 500 fields');
    expect((await client.graphql(getIntrospectionQuery())).body.errors).toBeUndefined();
  });

  it.each([
    ['variables that are no JSON', 400, '/graphql?query={__typename}&variables=x', undefined],
    // As any document that cannot be parsed, for a client that accepts application/json.
    ['a document nested too deep', 200, '/graphql', { query: '{a'.repeat(20_000) + '}'.repeat(20_000) }],
  ])('reports %s as a client error', async (_name, status, path, body) => {
    const answer = await client.request(body ? 'POST' : 'GET', path, body);
    expect(answer.status).toBe(status);
    expect(answer.body.errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
  });

  describe('uses the status codes of GraphQL over HTTP', () => {
    const fits = 'query Invoice($id: ID!) { invoice(id: $id) { id } }';
    const types = ['application/json', '*/*', 'application/graphql-response+json'] as const;
    const ask = (body: string, accept: string) =>
      fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${tenant.secretKey}`, 'Content-Type': 'application/json', Accept: accept },
        body,
      });

    it.each([
      ['a variable that does not fit', JSON.stringify({ query: fits, variables: { id: {} } })],
      ['a variable that is missing', JSON.stringify({ query: fits })],
      ['a document that is not valid', '{"query":"{ nothing }"}'],
      ['a document that can not be read', '{"query":"{"}'],
    ])('%s: 200 as application/json, 400 as application/graphql-response+json', async (_name, body) => {
      expect(await Promise.all(types.map(async (type) => (await ask(body, type)).status))).toEqual([200, 200, 400]);
    });

    it.each([
      ['a body that is no JSON', '{'],
      ['a body that is no object', 'null'],
      ['a request without a query', '{}'],
      ['a query that is null', '{"query":null}'],
      ['a query that is no text', '{"query":1}'],
      ['variables that are a list', '{"query":"{ __typename }","variables":[1]}'],
    ])('%s: 400 always', async (_name, body) => {
      expect(await Promise.all(types.map(async (type) => (await ask(body, type)).status))).toEqual([400, 400, 400]);
      const { errors } = (await (await ask(body, '*/*')).json()) as { errors: { extensions: object }[] };
      expect(Object.keys(errors[0]?.extensions ?? {}).sort()).toEqual(['code', 'param', 'problems', 'status']);
    });

    it.each([
      ['PUT', '/graphql'],
      ['GET', '/graphql?query=mutation%20%7B%20__typename%20%7D'],
    ])('%s %s: 405, also in the error', async (method, path) => {
      const { status, body } = await client.request(method, path);
      expect(status).toBe(405);
      expect(body.errors[0].extensions).toMatchObject({
        code: 'invalid_request',
        status: 405,
        problems: [{ status: 405 }],
      });
    });
  });

  it('names the invalid field of a variable as REST does, each with its own names', async () => {
    const lines = [{ description: 'x', quantity: 1, unit_price: 'x' }];
    const rest = await client.post('/v1/invoices', invoiceBody({ lines }));
    const typed = { ...input(), lines: [{ description: 'x', quantity: 1, unitPrice: 'x' }] };
    const { errors } = (await client.graphql(CREATE, { input: typed })).body;
    const { code, param, status } = rest.body.error;
    expect(errors[0].extensions).toMatchObject({ code, param: 'lines.0.unitPrice', status });
    expect(param).toBe('lines.0.unit_price');
  });

  it('reports the location of an invalid literal', async () => {
    for (const query of [
      '{ invoices(createdAfter: "2026-02-31T00:00:00Z") { edges { cursor } } }',
      'mutation { createInvoice(input: { amount: 1.5, currency: "MAD", customer: { ice: "", name: "" }, lines: [] }) { __typename } }',
      'mutation { createInvoice(input: { amount: 1, currency: "MAD", customer: { ice: "", name: "" }, lines: [], metadata: 1 }) { __typename } }',
    ]) {
      const [error] = (await client.graphql(query)).body.errors;
      expect(error).toMatchObject({
        message: expect.stringMatching(/^must be /),
        locations: [{ line: 1, column: expect.any(Number) }],
      });
    }
  });

  it('refuses a body over 1 MiB', async () => {
    expect((await client.graphql(`# ${'x'.repeat(1024 * 1024)}\n{ __typename }`)).status).toBe(413);
  });
});
