import { beforeEach, expect, it } from 'vitest';
import type { LoggedRequest } from '../../src/domain/request-log/request-record.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createRequestLog } from '../../src/storage/request-log.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;

beforeEach(async () => {
  store = await openTestStore('request_failures');
  return () => store.close();
});

let made = 0;

const today = new Date().setUTCHours(0, 0, 0, 0);
/** A time of some day before today, because what is old expires: `2T10:00:00Z` is the day before yesterday. */
function timeOf(text: string): Date {
  const [days, time] = text.split('T');
  return new Date(`${new Date(today - Number(days) * 86_400_000).toISOString().slice(0, 10)}T${time}`);
}

function request(at: string, differs: Partial<LoggedRequest> = {}): LoggedRequest {
  const common = {
    tenantId: 'ten_1',
    environment: 'test',
    method: 'GET',
    route: '/v1/invoices',
    operation: null,
    documentId: null,
  } as const;
  const failed = {
    status: 400,
    code: 'invalid_request',
    param: 'limit',
    milliseconds: 1,
    keyId: 'key_1',
    standsFor: 1,
  };
  return { ...common, ...failed, id: `req_${++made}`, order: String(made), at: timeOf(at), ...differs };
}

it('failures are counted by kind over days and batches, each batch in one command, whatever their order', async () => {
  const log = createRequestLog(store.db);
  const missing = { status: 404, code: 'resource_not_found' };
  await log.insert([
    request('1T10:00:00Z', { standsFor: 30 }),
    request('2T23:59:59Z'),
    request('2T08:00:00Z', missing),
    request('1T10:00:00Z', { status: 200, code: null, param: null }),
  ]);
  await Promise.all([
    log.insert([request('1T09:00:00Z'), request('1T11:00:00Z')]),
    log.insert([request('1T10:30:00Z'), request('14T10:30:00Z')]),
    log.insert([request('1T10:00:00Z', { tenantId: 'ten_2' })]),
    log.insert([request('1T10:00:00Z', { environment: 'live' })]),
    log.insert([request('1T10:00:00Z', { tenantId: 'ten_10' })]),
  ]);
  const of = (since: string, most = 50) => log.failures('ten_1', 'test', timeOf(since), most);
  const [first, second, ...others] = await of('2T12:00:00Z');
  expect(others).toEqual([]);
  const kind = { kind: 'GET /v1/invoices 400 invalid_request', method: 'GET', route: '/v1/invoices', status: 400 };
  expect(first).toEqual({
    ...kind,
    code: 'invalid_request',
    count: 34,
    firstAt: timeOf('2T23:59:59Z'),
    lastAt: timeOf('1T11:00:00Z'),
  });
  expect(second).toMatchObject({ status: 404, count: 1 });
  expect(await of('2T12:00:00Z', 1)).toEqual([first]);
  expect((await of('1T12:00:00Z')).map(({ count }) => count)).toEqual([33]);
  expect(await of('0T00:00:00Z')).toEqual([]);
});
