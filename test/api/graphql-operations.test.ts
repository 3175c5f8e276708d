import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CREDIT, REPLACE } from '../../src/cli/corrections.ts';
import { REMAP_IMPORT, START_IMPORT } from '../../src/cli/imports/service.ts';
import { FOLLOW } from '../../src/cli/webhooks/service.ts';
import { SEND } from '../../src/cli/webhooks/trigger.ts';
import { makeOperationList, readOperationList } from '../../src/graphql/operation-list.ts';
import { Client, invoiceBody } from '../support/client.ts';
import { startCommandLine } from '../support/command-line.ts';
import { startService, type TestService } from '../support/service.ts';

let folder: string;
/** The list that the command made from the folder. */
let list: Record<string, string>;

async function listOf(source: string): Promise<{ code: number; out: string; err: string }> {
  const child = startCommandLine(['operations', 'list', source]);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'operations-'));
  await mkdir(join(folder, 'pages/invoice'), { recursive: true });
  await writeFile(join(folder, 'parts.gql'), 'fragment Amounts on Invoice { amount ...Line }');
  await writeFile(
    join(folder, 'pages/line.graphql'),
    'fragment Line on Invoice { lines { amount } } fragment Rest on Invoice { id }',
  );
  await writeFile(
    join(folder, 'pages/invoice/read.graphql'),
    `# Two operations.
    query Read($id: ID!) { invoice(id: $id) { ...Amounts } }
    subscription Follow($id: ID!) { invoiceStatus(id: $id) { status } }`,
  );
  await writeFile(join(folder, 'README.md'), 'not { this');
  const made = await listOf(folder);
  expect([made.code, made.err]).toEqual([0, '']);
  list = JSON.parse(made.out);
  await writeFile(join(folder, 'list.json'), made.out);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const digestOf = (operation: string) => createHash('sha256').update(operation).digest('hex');
const listed = (name: string) => Object.entries(list).find(([, each]) => each.includes(` ${name}(`)) ?? ['', ''];
const persisted = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

describe('the list', () => {
  it('contains each operation with its fragments, and those of the command line, by digest', () => {
    expect(Object.keys(list)).toEqual(Object.values(list).map(digestOf));
    expect(Object.keys(list)).toHaveLength(10);
    const [, read] = listed('Read');
    for (const part of ['fragment Amounts', 'fragment Line']) expect(read).toContain(part);
    expect(read).not.toContain('Rest');
    expect(Object.values(list)).toEqual(
      expect.arrayContaining([FOLLOW, SEND, CREDIT, REPLACE, REMAP_IMPORT, START_IMPORT]),
    );
  });

  it.each([
    ['an unknown field', 'query A { nothing }', 'Cannot query field'],
    ['a syntax error', 'query A {', 'Syntax Error'],
    ['an unknown fragment', 'query A { ...Missing }', 'Missing'],
    [
      'an operation over a limit',
      `query A { ${Array.from({ length: 11 }, (_, i) => `a${i}: __typename`).join(' ')} }`,
      'at most 10',
    ],
    ['type definitions', 'type A { a: Int }', 'only operations'],
  ])('is not made from %s', (_name, source, message) => {
    const make = () => makeOperationList([{ name: 'wrong.graphql', text: source }]);
    expect(make).toThrow('wrong.graphql');
    expect(make).toThrow(message);
  });

  it('is not made from a folder without operations', async () => {
    const { code, out, err } = await listOf(join(folder, 'pages/nowhere'));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('cannot be read: it does not exist');
  });

  it.each([
    ['text that is not JSON', '{'],
    ['JSON that is not an object', '[]'],
    ['a wrong digest', JSON.stringify({ [digestOf('x')]: '{ __typename }' })],
    ['an invalid operation', JSON.stringify({ [digestOf('{ nothing }')]: '{ nothing }' })],
  ])('is refused with %s: the service does not start', async (_name, content) => {
    const file = join(folder, 'wrong.json');
    await writeFile(file, content);
    await expect(readOperationList(file)).rejects.toThrow('GRAPHQL_OPERATIONS');
    await expect(readOperationList(join(folder, 'missing.json'))).rejects.toThrow('ENOENT');
  });
});

describe.each([
  ['in addition to others', false],
  ['only these', true],
])('a service with listed operations, %s', (_name, only) => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService({
      GRAPHQL_OPERATIONS: join(folder, 'list.json'),
      GRAPHQL_OPERATIONS_ONLY: String(only),
    });
    client = new Client(service.url, (await service.tenant()).secretKey);
  });
  afterAll(() => service.close());

  it('runs them by digest, on both paths, by POST and GET', async () => {
    const { id } = (await client.post('/v1/invoices', invoiceBody())).body;
    const [digest, query] = listed('Read');
    const request = { variables: { id }, extensions: persisted(digest) };
    const expected = { data: { invoice: { amount: 12000, lines: [{ amount: 10000 }] } } };
    for (let time = 0; time < 3; time++) {
      const answer = await client.post('/graphql', request);
      expect([answer.status, answer.body]).toEqual([200, expected]);
    }
    const address = `/graphql?variables=${encodeURIComponent(JSON.stringify({ id }))}`;
    const extensions = encodeURIComponent(JSON.stringify(request.extensions));
    expect((await client.get(`${address}&extensions=${extensions}`)).body).toEqual(expected);
    // The listed text is accepted as well, with or without its digest.
    expect((await client.post('/graphql', { query, variables: { id } })).body).toEqual(expected);
    expect((await client.post('/graphql', { ...request, query })).body).toEqual(expected);
  });

  it('answers unknown digests so that clients send the text, and refuses a text with another digest', async () => {
    const [digest] = listed('Read');
    for (const [extensions, query, message] of [
      [persisted(digestOf('x')), undefined, 'PersistedQueryNotFound'],
      [persisted('__proto__'), undefined, 'PersistedQueryNotFound'],
      [persisted(digest), '{ __typename }', 'not that of the query'],
    ] as const) {
      const { body } = await client.post('/graphql', { query, extensions });
      expect(body.errors[0]).toMatchObject({
        message: expect.stringContaining(message),
        extensions: { code: 'invalid_request' },
      });
      expect(body.data).toBeUndefined();
    }
  });

  it(only ? 'refuses all other operations, on every path' : 'runs all other operations', async () => {
    const other = '{ __typename }';
    const refusal = 'Only listed operations may run';
    for (const query of [other, getIntrospectionQuery(), `${listed('Read')[1]} `]) {
      for (let time = 0; time < 2; time++) {
        const { body } = await client.post('/graphql', { query, variables: { id: 'inv_1' } });
        if (only) expect(body.errors[0].message).toContain(refusal);
        else expect(JSON.stringify(body)).not.toContain(refusal);
      }
    }
    const got = await client.get(`/graphql?query=${encodeURIComponent(other)}`);
    const streamed = await client.post('/graphql/stream', { query: other }, { Accept: 'text/event-stream' });
    expect([got.body.data ?? null, streamed.body.includes(refusal)]).toEqual([
      only ? null : { __typename: 'Query' },
      only,
    ]);
    // GraphiQL cannot work without introspection.
    const page = await fetch(`${service.url}/graphql`, { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(only ? 401 : 200);
  });

  it('still serves REST and the command line', async () => {
    expect((await client.post('/v1/invoices', invoiceBody())).status).toBe(201);
    const sent = await client.post('/graphql', { query: SEND, variables: { type: 'invoice_accepted' } });
    expect(sent.body.data.sendTestWebhookEvent.event.id).toMatch(/^evt_/);
    expect((await client.get('/v1/invoices')).status).toBe(200);
  });
});
