import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { createConditionTellings } from '../../src/storage/condition-tellings.ts';
import type { Store } from '../../src/storage/connect.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('condition_tellings');
});
afterAll(async () => {
  await store.close();
});

const AT = new Date('2026-11-30T08:00:00Z');
const later = (hours: number) => new Date(AT.getTime() + hours * 3_600_000);
const live = { environment: 'live', revokedAt: null };

async function tenants(...made: object[]): Promise<string[]> {
  const ids = made.map(() => newId('ten'));
  const documents = made.map((each, n) => ({ _id: ids[n], name: 'T', profile: {}, createdAt: AT, keys: [], ...each }));
  await store.db.collection<{ _id: string }>('tenants').deleteMany({});
  await store.db.collection<{ _id: string }>('tenants').insertMany(documents as never);
  return ids;
}

it('takes each live tenant once for all processes, and again when it is due', async () => {
  const ids = await tenants({ keys: [live] }, { keys: [live] }, { keys: [live] });
  const processes = Array.from({ length: 4 }, () => createConditionTellings(store.db));
  const taken = (await Promise.all(processes.map((each) => each.take(AT, later(1), 10)))).flat();
  expect(taken.map(({ tenantId }) => tenantId).toSorted()).toEqual(ids.toSorted());
  const [first] = processes;
  expect(await first?.take(later(0.5), later(2), 10)).toEqual([]);
  expect(await first?.take(later(1), later(2), 2)).toHaveLength(2);
  expect(await first?.take(later(1), later(2), 2)).toHaveLength(1);
});

it('tenants without a valid live key, and erased ones, are put off', async () => {
  await tenants(
    { keys: [{ ...live, environment: 'test' }] },
    { keys: [{ ...live, revokedAt: AT }] },
    { keys: [live], erasure: {} },
    {},
  );
  const tellings = createConditionTellings(store.db);
  expect(await tellings.take(AT, later(1), 10)).toEqual([]);
  const put = await store.db.collection('tenants').countDocuments({ ownersLookAt: later(1) });
  expect(put).toBe(4);
});

it('keeps what was told', async () => {
  const [tenantId = ''] = await tenants({ keys: [live] });
  const tellings = createConditionTellings(store.db);
  expect(await tellings.take(AT, later(1), 1)).toEqual([{ tenantId, told: { at: null, codes: [] } }]);
  const told = { at: AT, codes: ['invoices_rejected'] } as const;
  await tellings.keep(tenantId, told);
  expect(await tellings.take(later(1), later(2), 1)).toEqual([{ tenantId, told }]);
});
