import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Store } from '../../src/storage/connect.ts';
import { createLeases, sweep } from '../../src/storage/leases.ts';
import { openTestStore } from '../support/store.ts';

interface Task {
  _id: string;
  token: string | null;
  until: Date;
  note?: string;
}

const NOW = new Date(1_000_000);
const later = (ms: number) => new Date(NOW.getTime() + ms);
const due = (now: Date) => ({ until: { $lte: now } });

let store: Store;
let made = 0;
beforeAll(async () => {
  store = await openTestStore('leases', true);
});
afterAll(() => store.close());

/** Tasks that are due, in a collection of their own. */
async function tasks(...ids: string[]) {
  const collection = store.db.collection<Task>(`tasks_${++made}`);
  await collection.insertMany(ids.map((_id) => ({ _id, token: null, until: NOW })));
  const leases = createLeases(collection, { token: 'token', until: (end) => ({ until: end }) });
  const claim = async (now: Date, leaseMs = 1000, of = ids) =>
    (await leases.claimMany(of, due(now), { leaseMs, now })).map(({ _id, token }) => ({ id: _id, token: token ?? '' }));
  return { collection, leases, claim };
}

it('of several processes each document has one, with a token of its own', async () => {
  const ids = Array.from({ length: 300 }, (_, nth) => `t${nth}`);
  const { claim } = await tasks(...ids);
  const all = (await Promise.all([claim(NOW), claim(NOW, 1000, ids.slice(100)), claim(NOW)])).flat();
  expect(all.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  expect(new Set(all.map(({ token }) => token)).size).toBe(300);
});

it('a lease that was lost and taken again by the same process is not confused with the new one', async () => {
  const { leases, claim } = await tasks('a', 'b');
  const [oldA] = await claim(NOW, 100, ['a']);
  const now = later(200);
  const both = await claim(now);
  const newB = both.find(({ id }) => id === 'b');
  if (!oldA || !newB) throw new Error('not claimed');
  const update = { $set: { note: 'done' } };
  expect(await leases.release([{ leases: [oldA, newB], update }])).toBe(1);
  expect(await leases.renew([{ ...oldA, leaseMs: 1000 }], now)).toBe(0);
});

it('renewal counts from now, each by its length, and stores texts as they are', async () => {
  const { collection, leases, claim } = await tasks('a', 'b');
  const [one, other] = await claim(NOW);
  if (!one || !other) throw new Error('not claimed');
  const held = [
    { ...one, leaseMs: 500 },
    { ...other, leaseMs: 9000 },
  ];
  expect(await leases.renew(held, later(100), { note: '$until' })).toBe(2);
  expect(await claim(later(599))).toEqual([]);
  expect((await claim(later(600))).map(({ id }) => id)).toEqual([one.id]);
  expect((await collection.findOne({ _id: other.id }))?.note).toBe('$until');
});

it('a sweep takes the earliest and puts them off', async () => {
  const { collection } = await tasks('a', 'b', 'c');
  await collection.updateOne({ _id: 'c' }, { $set: { until: later(-5) } });
  await collection.updateOne({ _id: 'b' }, { $set: { until: later(50) } });
  const take = async (now: Date) => {
    const update = { $set: { until: later(1000) } };
    return (await sweep(collection, 'until', { limit: 1, now, update })).map(({ _id }) => _id);
  };
  expect([await take(NOW), await take(NOW), await take(NOW), await take(later(50))]).toEqual([['c'], ['a'], [], ['b']]);
});
