import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SPECIMEN_SELLER } from '../../src/domain/tenant/tenant.ts';
import { type Answer, Client, invoiceBody } from '../support/client.ts';
import { firstOf, someOf } from '../support/samples.ts';
import { startTakingLive, type TestService, type TestTenant } from '../support/service.ts';

/**
 * Every credential with every operation (docs/api/contract.md, "Authentication"; docs/decisions/0020). The operations
 * use an accepted invoice and an endpoint of the tenant "own" in the test environment. A dash means 401
 * `invalid_api_key`, R means 401 `api_key_revoked`. The value in brackets is sent as the parameter `client_secret`.
 */
const MATRIX = `
                                         POST      GET       GET       GET     POST      GET       PATCH     DELETE    GET  GET   GET      PUT
                                         invoices  invoices  invoice   stream  endpoints endpoints endpoint  endpoint  xml  pdf   nothing  invoices
own secret, test                         201       200       200       200     201       200       200       200       200  200   404      405
own secret, live                         201       200       404       404     201       200       404       404       200  200   404      405
own secret, test [own]                   400       400       200       200     400       400       400       400       200  200   404      405
own secret, test [sibling]               400       400       403       403     400       400       400       400       200  200   404      405
own secret, test [other]                 400       400       403       403     400       400       400       400       200  200   404      405
own secret, test [forged]                400       400       -         -       400       400       400       400       200  200   404      405
other secret, test [own]                 400       400       404       404     400       400       400       400       200  200   404      405
other secret, test                       201       200       404       404     201       200       404       404       200  200   404      405
other secret, live                       201       200       404       404     201       200       404       404       200  200   404      405
own publishable, test                    403       403       403       403     403       403       403       403       200  200   404      405
own publishable, test [own]              403       403       200       200     403       403       403       403       200  200   404      405
own publishable, test [sibling]          403       403       403       403     403       403       403       403       200  200   404      405
own publishable, test [other]            403       403       403       403     403       403       403       403       200  200   404      405
own publishable, test [live]             403       403       403       403     403       403       403       403       200  200   404      405
own publishable, test [forged]           403       403       -         -       403       403       403       403       200  200   404      405
own publishable, live [own]              403       403       403       403     403       403       403       403       200  200   404      405
other publishable, test [own]            403       403       403       403     403       403       403       403       200  200   404      405
other publishable, test [other]          403       403       403       403     403       403       403       403       200  200   404      405
other publishable, live [own]            403       403       403       403     403       403       403       403       200  200   404      405
client_secret of own                     403       403       200       200     403       403       403       403       200  200   404      405
client_secret of own [own]               403       403       200       200     403       403       403       403       200  200   404      405
client_secret of own [sibling]           403       403       403       403     403       403       403       403       200  200   404      405
client_secret of sibling                 403       403       403       403     403       403       403       403       200  200   404      405
client_secret of other                   403       403       403       403     403       403       403       403       200  200   404      405
client_secret of live                    403       403       403       403     403       403       403       403       200  200   404      405
client_secret of forged                  -         -         -         -       -         -         -         -         200  200   -        -
revoked secret, test                     R         R         R         R       R         R         R         R         200  200   R        R
revoked publishable, test [own]          R         R         R         R       R         R         R         R         200  200   R        R
revoked secret, live                     R         R         R         R       R         R         R         R         200  200   R        R
none                                     -         -         -         -       -         -         -         -         200  200   -        -
none [own]                               -         -         -         200       -         -         -         -         200  200   -        -
none [sibling]                           -         -         -         403       -         -         -         -         200  200   -        -
none [other]                             -         -         -         403       -         -         -         -         200  200   -        -
none [live]                              -         -         -         403       -         -         -         -         200  200   -        -
none [forged]                            -         -         -         -         -         -         -         -         200  200   -        -
unknown secret, test                     -         -         -         -       -         -         -         -         200  200   -        -
unknown secret, live                     -         -         -         -       -         -         -         -         200  200   -        -
unknown publishable, test [own]          -         -         -         -       -         -         -         -         200  200   -        -
malformed: Basic c2s6eA==                -         -         -         -       -         -         -         -         200  200   -        -
malformed: Bearer                        -         -         -         -       -         -         -         -         200  200   -        -
malformed: OWN                           -         -         -         -       -         -         -         -         200  200   -        -
malformed: Bearer OWN OWN                -         -         -         -       -         -         -         -         200  200   -        -
malformed: Bearer "OWN"                  -         -         -         -       -         -         -         -         200  200   -        -
malformed: Bearer OWNx                   -         -         -         -       -         -         -         -         200  200   -        -
`;

const NAME_WIDTH = 41;
const [methods = [], nouns = [], ...rows] = MATRIX.split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => [line.slice(0, NAME_WIDTH).trim(), ...line.slice(NAME_WIDTH).trim().split(/\s+/)]);
const OPERATIONS = nouns.slice(1).map((noun, i) => ({ method: methods[i + 1] as string, noun }));

let service: TestService;
let own: TestTenant;
/** The credential of each row, from its name: `own secret, test`, `client_secret of own` and others. */
const tokens = new Map<string, string>();
let invoice: Answer['body'];
let endpointId: string;

beforeAll(async () => {
  service = await startTakingLive({ RATE_LIMIT_ADDRESS: '1000000' });
  own = await service.tenant(SPECIMEN_SELLER);
  const other = await service.tenant(SPECIMEN_SELLER);
  for (const [whose, tenant] of [
    ['own', own],
    ['other', other],
  ] as const) {
    tokens.set(`${whose} secret, test`, tenant.secretKey);
    tokens.set(`${whose} secret, live`, await service.liveKey(tenant.id));
    tokens.set(`${whose} publishable, test`, tenant.publishableKey);
    tokens.set(`${whose} publishable, live`, await service.liveKey(tenant.id, 'publishable'));
  }
  const create = async (key: string) =>
    (await new Client(service.url, tokens.get(key) ?? '').post('/v1/invoices', invoiceBody())).body;
  const made = await create('own secret, test');
  tokens.set('client_secret of own', made.client_secret);
  tokens.set('client_secret of sibling', (await create('own secret, test')).client_secret);
  tokens.set('client_secret of other', (await create('other secret, test')).client_secret);
  tokens.set('client_secret of live', (await create('own secret, live')).client_secret);
  tokens.set('client_secret of forged', `${made.id}_secret_${'A'.repeat(32)}`);
  for (const [name, kind] of [
    ['secret', 'secret'],
    ['publishable', 'publishable'],
  ] as const) {
    tokens.set(`unknown ${name}, test`, `${name === 'secret' ? 'sk' : 'pk'}_test_${'x'.repeat(32)}`);
    const { key, token } = await service.app.manageKeys.create(own.id, kind, 'test');
    await service.app.manageKeys.revoke(key.id);
    tokens.set(`revoked ${name}, test`, token);
  }
  tokens.set('unknown secret, live', `sk_live_${'x'.repeat(32)}`);
  const revoked = await service.liveKey(own.id);
  const lastFour = revoked.slice(-4);
  const [key] = (await service.app.manageKeys.list(own.id)).filter((each) => each.lastFour === lastFour);
  await service.app.manageKeys.revoke(key?.id ?? '');
  tokens.set('revoked secret, live', revoked);
  invoice = await new Client(service.url, own.secretKey).settled(made.id);
});
afterAll(() => service.close());

beforeEach(async () => {
  await service.app.store.db.collection('webhook_endpoints').deleteMany({});
  const { body } = await new Client(service.url, own.secretKey).post('/v1/webhook_endpoints', endpointBody);
  endpointId = body.id;
});

const endpointBody = { url: 'https://example.com/', events: ['invoice.accepted'] };

/** The headers and query string of a row's credential. */
function credentialOf(row: string): { headers: Record<string, string>; query: string } {
  const malformed = /^malformed: (.*)$/.exec(row)?.[1];
  if (malformed !== undefined)
    return { headers: { Authorization: malformed.replaceAll('OWN', own.secretKey) }, query: '' };
  const [, name = '', of] = /^([^[]*?)(?: \[(\w+)\])?$/.exec(row) ?? [];
  const query =
    of === undefined ? '' : `?client_secret=${encodeURIComponent(tokens.get(`client_secret of ${of}`) ?? '')}`;
  if (name === 'none') return { headers: {}, query };
  const token = tokens.get(name);
  if (token === undefined) throw new Error(`the row '${row}' has no credential`);
  return { headers: { Authorization: `Bearer ${token}` }, query };
}

function call(method: string, noun: string, row: string, body: unknown, extra: Record<string, string> = {}) {
  const { headers, query } = credentialOf(row);
  const paths: Record<string, string> = {
    invoices: '/v1/invoices',
    invoice: `/v1/invoices/${invoice.id}`,
    stream: `/v1/invoices/${invoice.id}/stream`,
    endpoints: '/v1/webhook_endpoints',
    endpoint: `/v1/webhook_endpoints/${endpointId}`,
    nothing: '/v1/nothing',
    xml: new URL(invoice.xml_url).pathname,
    pdf: new URL(invoice.pdf_url).pathname,
  };
  const sent = method === 'GET' || method === 'DELETE' ? undefined : body;
  return new Client(service.url, null).request(method, paths[noun] + query, sent, { ...headers, ...extra });
}

function verdictOf({ status, body }: Answer): string {
  if (status !== 401) return String(status);
  return { invalid_api_key: '-', api_key_revoked: 'R' }[body.error.code as string] ?? `401 ${body.error.code}`;
}

const CODES: Record<number, string> = {
  400: 'invalid_request',
  403: 'insufficient_scope',
  404: 'resource_not_found',
  405: 'invalid_request',
};

/** What asks for no credential, and what is no operation, in three of the rows that are alike in that. */
const WITHOUT_CREDENTIAL = ['xml', 'pdf', 'nothing'];
const ALIKE = Map.groupBy(rows, (row) => row.slice(-4).join());
const WHOLE_ROWS = new Set([...ALIKE.values()].flatMap((each) => firstOf(each, 3)).map(([name]) => name));
const isTried = (name: string, { method, noun }: (typeof OPERATIONS)[number]) =>
  WHOLE_ROWS.has(name) || !(WITHOUT_CREDENTIAL.includes(noun) || method === 'PUT');

describe('each credential on each operation', () => {
  it.each(rows.map(([name = '', ...cells]) => [name, cells] as const))('%s', async (name, cells) => {
    const answers: string[] = [];
    const tried = OPERATIONS.filter((operation) => isTried(name, operation));
    for (const { method, noun } of tried) {
      const body = { invoices: invoiceBody(), endpoints: endpointBody, endpoint: { active: true } }[noun];
      const answer = await call(method, noun, name, body);
      answers.push(verdictOf(answer));
      const { status, headers } = answer;
      expect(headers.get('request-id')).toMatch(/^req_/);
      expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
      expect(headers.get('www-authenticate')?.slice(0, 6)).toBe(status === 401 ? 'Bearer' : undefined);
      if (status >= 400) {
        expect(answer.body.error).toEqual({
          code: status === 401 ? expect.any(String) : CODES[status],
          message: expect.stringMatching(/\.$/),
          param:
            status === 404 || name.includes('publishable') || name.endsWith(']')
              ? expect.toBeOneOf([null, 'id', 'client_secret'])
              : null,
          status,
        });
      }
    }
    expect(answers).toEqual(cells.filter((_, i) => tried.includes(OPERATIONS[i] as (typeof OPERATIONS)[number])));
  });
});

describe('the rest of a request is checked after the credential and its scope', () => {
  const refusedBeforehand = rows.filter(([, cell]) => cell !== '201');
  const wrong = [
    ['{not json', {}],
    [{ colour: 'red' }, {}],
    ['', { 'Content-Type': 'text/plain' }],
    ['x'.repeat(1024 * 1024 + 1), {}],
    [invoiceBody(), { 'Idempotency-Key': '""' }],
  ] as const;
  /** Another one first in each row. */
  const wrongOf = (row: number) => firstOf([...wrong.slice(row % 5), ...wrong.slice(0, row % 5)]);

  const cases = refusedBeforehand.map(([name = '', ...cells], row) => [name, cells, wrongOf(row)] as const);
  it.each(cases)('%s', async (name, cells, bodies) => {
    for (const [i, { method, noun }] of OPERATIONS.entries()) {
      if (!['POST', 'PATCH'].includes(method)) continue;
      for (const [body, headers] of bodies) {
        expect([method, noun, verdictOf(await call(method, noun, name, body, headers))]).toEqual([
          method,
          noun,
          cells[i],
        ]);
      }
    }
  });

  it('stores nothing for refused requests', async () => {
    const count = () => service.app.store.db.collection('invoices').countDocuments({});
    const before = await count();
    for (const [name = ''] of someOf(refusedBeforehand)) {
      await call('POST', 'invoices', name, invoiceBody());
      await call('POST', 'endpoints', name, endpointBody);
      await call('PATCH', 'endpoint', name, { active: false });
      await call('DELETE', 'endpoint', name, undefined);
    }
    expect(await count()).toBe(before);
    const { body } = await new Client(service.url, own.secretKey).get('/v1/webhook_endpoints');
    expect(body.data.map(({ id, active }: { id: string; active: boolean }) => [id, active])).toEqual([
      [endpointId, true],
    ]);
  });
});
