import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetOperator } from '../../src/domain/installation/first-start.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { Client } from '../support/client.ts';
import { signedIn } from '../support/person.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operator: Record<string, string>;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_ADDRESS: '10000' });
  const credential = `operator:${service.app.firstStart.operatorPassword}`;
  operator = { Authorization: `Basic ${Buffer.from(credential).toString('base64')}` };
});
afterAll(() => service.close());

it('needs the operator’s password', async () => {
  const { secretKey } = await service.tenant();
  const wrong = `Basic ${Buffer.from('operator:x').toString('base64')}`;
  for (const headers of [{}, { Authorization: `Bearer ${secretKey}` }, { Authorization: wrong }]) {
    const answer = await new Client(service.url, null).get('/ops/jobs/', headers);
    expect([answer.status, answer.headers.get('www-authenticate')?.slice(0, 5)]).toEqual([401, 'Basic']);
  }
  expect((await new Client(service.url, null).get('/ops/jobs/', operator)).status).toBe(200);
  expect((await new Client(service.url, null).get('/ops/jobsite')).status).toBe(404);
});

it('is open to a signed-in operator, as long as the person is one, and to pages of this service only', async () => {
  const person = await signedIn(service, { isOperator: true });
  const ask = (path = '/ops/jobs/', headers = {}) => person.browser.request('GET', path, undefined, headers);
  expect([(await ask()).status, (await ask('/metrics')).status]).toEqual([200, 200]);
  expect((await person.browser.post('/ops/jobs/api/jobs/requeue', { jobIds: [] })).status).toBe(200);
  const recorded = () => service.app.store.db.collection('audit_log').find({ action: 'jobs.changed' }).toArray();
  expect(await recorded()).toMatchObject([
    { tenantId: 'installation', actor: { kind: 'operator', id: person.id }, details: { change: 'requeue' } },
  ]);
  const foreign = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
  expect((await ask('/metrics', foreign)).status).toBe(401);
  expect((await person.browser.post('/ops/jobs/api/jobs/delete', { jobIds: [] }, foreign)).status).toBe(401);
  expect(await recorded()).toHaveLength(1);
  // A wrong password is no reason to look for a session.
  expect((await ask('/metrics', { Authorization: `Basic ${btoa('operator:x')}` })).status).toBe(401);

  const tenant = await service.tenant();
  const owner = await signedIn(service, { memberships: [{ tenantId: tenant.id, role: 'owner' }] });
  expect((await owner.browser.request('GET', '/ops/jobs/')).status).toBe(401);
  expect((await owner.browser.request('GET', '/metrics')).status).toBe(401);

  const grants = service.app.store.db.collection<{ _id: string }>('person_grants');
  await grants.updateOne({ _id: person.id }, { $set: { isOperator: false } });
  expect((await ask()).status).toBe(401);
  await grants.updateOne({ _id: person.id }, { $set: { isOperator: true } });
  expect((await ask()).status).toBe(200);
  await person.browser.post('/auth/sign-out');
  expect((await ask()).status).toBe(401);
});

it('leads somebody who follows a link of another site to the page of operators, without asking for a password', async () => {
  for (const from of ['cross-site', 'same-site']) {
    const link = { 'Sec-Fetch-Site': from, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    for (const path of ['/ops/jobs', '/ops/jobs/', '/metrics']) {
      const answer = await navigate(path, link);
      expect([answer.statusCode, answer.headers.location]).toEqual([302, '/ops']);
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
  }
  // Typed in, or in a script of that site.
  const typed = { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate' };
  expect((await navigate('/ops/jobs/', typed)).statusCode).toBe(401);
  const script = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' };
  expect((await navigate('/ops/jobs/', script)).statusCode).toBe(401);
});

/** Node's `fetch` has a Sec-Fetch-Mode of its own. */
async function navigate(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const [answer] = (await once(get(`${service.url}${path}`, { headers }), 'response')) as [IncomingMessage];
  answer.resume();
  return answer;
}

it.each([
  ['a body that is no JSON', 'POST', '/ops/jobs/api/jobs/delete', '{x', 400],
  ['a body that is too large', 'POST', '/ops/jobs/api/jobs/delete', `{"jobIds":"${'x'.repeat(2_000_000)}"}`, 413],
  ['a path outside of its assets', 'GET', '/ops/jobs/..%2f..%2fpackage.json', undefined, 403],
] as const)('reports %s as a client error', async (_name, method, path, body, status) => {
  const answer = await new Client(service.url, null).request(method, path, body, operator);
  expect(answer.body).toEqual({ error: { code: 'invalid_request', message: expect.any(String), param: null, status } });
  expect(answer.status).toBe(status);
});

it.each(['limit=0', 'limit=501', 'limit=1e9', 'skip=-1', 'limit=1&limit=2', `q=${'x'.repeat(201)}`])(
  'refuses a search for %s',
  async (query) => {
    const client = new Client(service.url, null);
    expect(await client.get(`/ops/jobs/api?${query}`, operator)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param: query.split('=')[0] } },
    });
    expect((await client.get('/ops/jobs/api?job=&state=&skip=0&limit=50&q=x', operator)).status).toBe(200);
  },
);

describe('a change', () => {
  const change = async (what: string, headers: Record<string, string> = {}, body: object = { jobIds: [] }) => {
    const client = new Client(service.url, null);
    return client.request('POST', `/ops/jobs/api/jobs/${what}`, body, { ...operator, ...headers });
  };

  // Agenda takes what is no list of ids for all jobs.
  it.each([
    ['a text', 'x'],
    ['a number', [1]],
    ['an object', { length: 1 }],
    ['another text than an id', ['x']],
    ['too many', Array.from({ length: 501 }, () => '0'.repeat(24))],
    ['nothing', undefined],
  ])('of %s in place of ids is refused, and changes no job', async (_name, jobIds) => {
    const jobs = service.app.store.db.collection('jobs');
    const nextRunAt = new Date(Date.now() + 3_600_000);
    const { insertedId } = await jobs.insertOne({ name: 'kept', type: 'normal', nextRunAt });
    const before = await jobs.countDocuments();
    for (const what of ['requeue', 'retry', 'delete', 'pause', 'resume'])
      expect(await change(what, {}, { jobIds })).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', param: 'jobIds' } },
      });
    expect(await jobs.findOne({ _id: insertedId })).toEqual({
      _id: insertedId,
      name: 'kept',
      type: 'normal',
      nextRunAt,
    });
    expect(await jobs.countDocuments()).toBe(before);
    await jobs.deleteOne({ _id: insertedId });
  });

  it('is accepted from its own pages and from non-browser clients', async () => {
    for (const headers of [
      {},
      { Origin: service.url },
      { 'Sec-Fetch-Site': 'same-origin', Origin: service.url },
      { 'Sec-Fetch-Site': 'none' },
    ] as Record<string, string>[]) {
      for (const what of ['requeue', 'retry', 'delete', 'pause', 'resume'])
        expect([what, headers, (await change(what, headers)).status]).toEqual([what, headers, 200]);
    }
  });

  it.each([
    [{ Origin: 'https://evil.example' }],
    [{ Origin: 'http://127.0.0.1:1' }],
    [{ Origin: 'null' }],
    [{ Origin: 'x' }],
    [{ 'Sec-Fetch-Site': 'cross-site' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
  ] as [Record<string, string>][])('is refused from other origins: %j', async (headers) => {
    const { status, body } = await change('delete', headers);
    expect([status, body.error.code]).toEqual([403, 'insufficient_scope']);
  });

  it('creates no job, whether a worker has its definition or not', async () => {
    const jobs = service.app.store.db.collection('jobs');
    const before = await jobs.countDocuments();
    for (const jobName of ['invented', 'invoice.sign']) {
      for (const path of ['create', 'Create', 'create/', 'x/../create']) {
        const { status, body } = await change(path, {}, { jobName, jobData: { invoiceId: 'inv_x' } });
        expect([path, status, body.error.code]).toEqual([path, 403, 'insufficient_scope']);
      }
    }
    expect(await jobs.countDocuments()).toBe(before);
  });

  it('deletes and requeues an existing job', async () => {
    const jobs = service.app.store.db.collection('jobs');
    const { insertedId } = await jobs.insertOne({
      name: 'invoice.sign',
      data: { invoiceId: 'inv_x' },
      type: 'normal',
      priority: 0,
      nextRunAt: new Date(Date.now() + 3_600_000),
    });
    const jobIds = [String(insertedId)];
    expect((await change('requeue', {}, { jobIds })).body).toEqual({ requeuedCount: 1 });
    expect((await change('delete', {}, { jobIds })).body).toMatchObject({ deletedCount: 1 });
    expect(await jobs.findOne({ _id: insertedId })).toBeNull();
  });
});

it.each(['/ops/jobs/', '/ops/jobs', '/docs', '/graphql', '/verify/inv_x', '/nothing'])(
  '%s cannot be framed',
  async (path) => {
    const headers = { Accept: 'text/html', ...(path.startsWith('/ops') && operator) };
    const answer = await fetch(service.url + path, { headers, redirect: 'manual' });
    expect(answer.headers.get('x-frame-options')).toBe('DENY');
    if (answer.status === 200)
      expect(answer.headers.get('content-security-policy')).toMatch(/; frame-ancestors 'none'/);
  },
);

it('accepts a reset password at once, and refuses the old one', async () => {
  const status = async (password: string | null) => {
    const Authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
    return (await new Client(service.url, null).get('/ops/jobs/', { Authorization })).status;
  };
  const password = await resetOperator(createInstallationRepository(service.app.store.db));
  expect(await status(password)).toBe(200);
  expect(await status(service.app.firstStart.operatorPassword)).toBe(401);
});
