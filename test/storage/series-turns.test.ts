import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createSeriesTurns } from '../../src/storage/series-turns.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('turns');
});
afterAll(() => store.close());

const failures: unknown[] = [];
const processOf = (db = store.db) => createSeriesTurns(db, (failure) => failures.push(failure));
const stored = (series: string) =>
  store.db.collection<{ _id: string; until: Date }>('series_turns').findOne({ _id: series });

it('one process after the other has its turn at a series, and others do not wait for it', async () => {
  const [series, processes] = [newId('ten'), [processOf(), processOf(), processOf()]];
  let inside = 0;
  let most = 0;
  const order: number[] = [];
  await Promise.all(
    processes.map(async (each, nth) => {
      for (let turn = 0; turn < 3; turn++) {
        const leave = await each.enter(series);
        most = Math.max(most, ++inside);
        order.push(nth);
        await (await processOf().enter(newId('ten')))();
        inside--;
        leave();
      }
    }),
  );
  expect(most).toBe(1);
  expect(order.toSorted()).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
  expect(failures).toEqual([]);
});

it('the turn of a process that died ends after two seconds', async () => {
  const series = newId('ten');
  const begun = Date.now();
  await processOf().enter(series);
  const leave = await processOf().enter(series);
  expect(Date.now() - begun).toBeGreaterThan(1900);
  expect((await stored(series))?.until.getTime()).toBeGreaterThan(Date.now());
  leave();
  await expect.poll(async () => Number((await stored(series))?.until ?? 0)).toBeLessThanOrEqual(Date.now());
});

it('a turn that is left is free for a process whose clock is behind', async () => {
  const series = newId('ten');
  (await processOf().enter(series))();
  await expect.poll(async () => (await stored(series))?.until.getTime() ?? 0).toBe(0);
});

it('a process that is late does not end the turn of the next one', async () => {
  const series = newId('ten');
  const late = await processOf().enter(series);
  await store.db
    .collection<{ _id: string }>('series_turns')
    .updateOne({ _id: series }, { $set: { until: new Date(0) } });
  const leave = await processOf().enter(series);
  late();
  await processOf().enter(newId('ten'));
  expect((await stored(series))?.until.getTime()).toBeGreaterThan(Date.now());
  leave();
});

it('without the store there are no turns, and nobody waits', async () => {
  const away = { collection: () => ({ updateOne: () => Promise.reject(new Error('away')) }) } as never;
  const leave = await createSeriesTurns(away, (failure) => failures.push(failure)).enter('s');
  leave();
  expect(failures.splice(0).map(String)).toEqual(['Error: away']);
});
