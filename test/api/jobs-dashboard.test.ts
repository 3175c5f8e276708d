import { afterAll, beforeAll, expect, it } from 'vitest';
import { resetOperator } from '../../src/domain/installation/first-start.ts';
import { createInstallationRepository } from '../../src/storage/installation.ts';
import { Client } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operator: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  const credential = `operator:${service.app.firstStart.operatorPassword}`;
  operator = { Authorization: `Basic ${Buffer.from(credential).toString('base64')}` };
});
afterAll(() => service.close());

it('is for the operator alone', async () => {
  const { secretKey } = await service.tenant();
  const wrong = `Basic ${Buffer.from('operator:x').toString('base64')}`;
  for (const headers of [{}, { Authorization: `Bearer ${secretKey}` }, { Authorization: wrong }]) {
    const answer = await new Client(service.url, null).get('/ops/jobs/', headers);
    expect([answer.status, answer.headers.get('www-authenticate')?.slice(0, 5)]).toEqual([401, 'Basic']);
  }
  expect((await new Client(service.url, null).get('/ops/jobs/', operator)).status).toBe(200);
  expect((await new Client(service.url, null).get('/ops/jobsite')).status).toBe(404);
});

it.each([
  ['a body that is no JSON', 'POST', '/ops/jobs/api/jobs/delete', '{x', 400],
  ['a body that is too large', 'POST', '/ops/jobs/api/jobs/delete', `{"jobIds":"${'x'.repeat(2_000_000)}"}`, 413],
  ['a path outside of its assets', 'GET', '/ops/jobs/..%2f..%2fpackage.json', undefined, 403],
] as const)('takes %s for the client’s fault', async (_name, method, path, body, status) => {
  const answer = await new Client(service.url, null).request(method, path, body, operator);
  expect(answer.body).toEqual({ error: { code: 'invalid_request', message: expect.any(String), param: null, status } });
  expect(answer.status).toBe(status);
});

it('takes a new password at once when it was reset, and the old one no more', async () => {
  const status = async (password: string | null) => {
    const Authorization = `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`;
    return (await new Client(service.url, null).get('/ops/jobs/', { Authorization })).status;
  };
  const password = await resetOperator(createInstallationRepository(service.app.store.db));
  expect(await status(password)).toBe(200);
  expect(await status(service.app.firstStart.operatorPassword)).toBe(401);
});
