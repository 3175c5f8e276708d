import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type AnsweredRequest, createRequestRecorder } from '../../src/domain/request-log/recorder.ts';
import type { LoggedRequest } from '../../src/domain/request-log/request-record.ts';

beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-11-23T12:00:00Z') }));
afterEach(() => vi.useRealTimers());

/** A recorder over an array; `refuse` makes the store fail. */
function world() {
  const stored: LoggedRequest[] = [];
  const commands: number[] = [];
  const dropped: number[] = [];
  const store = { refuse: null as Error | null, wait: null as Promise<void> | null };
  const recorder = createRequestRecorder(
    {
      async insert(records) {
        commands.push(records.length);
        await store.wait;
        if (store.refuse) throw store.refuse;
        stored.push(...records);
      },
    },
    (n) => dropped.push(n),
  );
  let count = 0;
  const request = (changes: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
    id: `req_${count++}`,
    tenantId: 'ten_1',
    environment: 'test',
    at: new Date(),
    method: 'GET',
    route: '/v1/invoices/:id',
    operation: null,
    documentId: null,
    status: 200,
    milliseconds: 3,
    code: null,
    param: null,
    keyId: 'key_1',
    ...changes,
  });
  const standFor = () => stored.reduce((sum, each) => sum + each.standsFor, 0);
  return { recorder, stored, commands, dropped, store, request, standFor };
}

it('writes nothing while there is nothing, and all of a second together', async () => {
  const { recorder, stored, commands, request } = world();
  await vi.advanceTimersByTimeAsync(5000);
  expect(commands).toEqual([]);
  for (const status of [200, 404, 500]) recorder.record(request({ status }));
  expect(stored).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(commands).toEqual([3]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(commands).toEqual([3]);
});

it('counts every request, and keeps few of many like ones', async () => {
  const { recorder, stored, request, standFor } = world();
  for (let i = 0; i < 5000; i++) recorder.record(request({ status: 400, code: 'invalid_request' }));
  recorder.record(request({ status: 500, code: 'internal_error' }));
  await vi.advanceTimersByTimeAsync(61_000);
  expect(standFor()).toBe(5001);
  expect(stored).toHaveLength(10 + 1 + 1);
  expect(stored.at(-1)).toMatchObject({ standsFor: 4990, code: 'invalid_request', id: 'req_4999' });
});

it('keeps a record of each kind, however many kinds a tenant has, and of every tenant', async () => {
  const { recorder, stored, request, standFor } = world();
  for (let kind = 0; kind < 300; kind++)
    for (let i = 0; i < 5; i++) recorder.record(request({ status: 400 + kind, code: 'c' }));
  for (let i = 0; i < 5; i++) recorder.record(request({ tenantId: 'ten_2' }));
  await vi.advanceTimersByTimeAsync(61_000);
  expect(standFor()).toBe(1505);
  expect(new Set(stored.map(({ status }) => status)).size).toBe(301);
  // 120 of their own, the first of each kind, and one for the rest of each.
  expect(stored.filter(({ tenantId }) => tenantId === 'ten_1').length).toBeLessThan(2 * 300 + 120);
  expect(stored.filter(({ tenantId }) => tenantId === 'ten_2')).toHaveLength(5);
});

it('a store that is away neither fills the memory nor stops what comes later', async () => {
  const { recorder, stored, dropped, store, request } = world();
  store.refuse = new Error('away');
  recorder.record(request());
  await vi.advanceTimersByTimeAsync(1000);
  expect([stored.length, dropped]).toEqual([0, [1]]);
  store.refuse = null;
  recorder.record(request());
  await vi.advanceTimersByTimeAsync(1000);
  expect(stored).toHaveLength(1);
});

it('while the store is slow, successes are dropped before failures, and both in the end', async () => {
  const { recorder, dropped, store, request } = world();
  store.wait = new Promise(() => undefined);
  const tenants = Array.from({ length: 2000 }, (_, i) => `ten_${i}`);
  const fill = (changes: Partial<AnsweredRequest>) => {
    for (const tenantId of tenants) for (let i = 0; i < 5; i++) recorder.record(request({ tenantId, ...changes }));
    return dropped.splice(0).length;
  };
  expect(fill({})).toBe(2000);
  expect(fill({ status: 500, code: 'c' })).toBe(8000);
});

it('a stop writes what waits, also what stands for the rest of the minute', async () => {
  const { recorder, stored, request, standFor } = world();
  for (let i = 0; i < 50; i++) recorder.record(request());
  await recorder.stop(1000);
  expect([standFor(), stored.length]).toEqual([50, 11]);
});

it('a stop does not wait for a store that hangs', async () => {
  const { recorder, store, request } = world();
  store.wait = new Promise(() => undefined);
  recorder.record(request());
  const stopped = recorder.stop(1000);
  await vi.advanceTimersByTimeAsync(1000);
  await stopped;
});

it('tells of every request that the store refused, also of those that one record stands for', async () => {
  const { recorder, dropped, store, request } = world();
  for (let n = 0; n < 1000; n++) recorder.record(request({ status: 404, code: 'resource_not_found' }));
  store.refuse = new Error('away');
  await recorder.stop(1000);
  expect(dropped.reduce((sum, n) => sum + n, 0)).toBe(1000);
});
