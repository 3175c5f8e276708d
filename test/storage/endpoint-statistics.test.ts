import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createStatisticsStore } from '../../src/storage/endpoint-statistics.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('statistics');
});
afterAll(() => store.close());

it('counts of several processes add up, by endpoint and hour', async () => {
  const statistics = createStatisticsStore(store.db);
  const [endpoint, other] = [newId('we'), newId('we')];
  const hourBefore = (hours: number) => new Date(new Date().setUTCMinutes(0, 0, 0) - hours * 3_600_000);
  const [at, later] = [hourBefore(2), hourBefore(1)];
  const none = { delivered: 0, failed: 0 };
  const hour = {
    at,
    first: { delivered: 2, failed: 0 },
    retries: { delivered: 0, failed: 3 },
    latencies: [0, 2, 0, 1],
  };
  await Promise.all(
    Array.from({ length: 5 }, () =>
      statistics.add(
        new Map([
          [endpoint, [hour, { ...hour, at: later, retries: none }]],
          [other, [hour]],
        ]),
      ),
    ),
  );
  await statistics.add(new Map());
  const [first, second, ...more] = (await statistics.read(endpoint, [at, later])).sort((a, b) => +a.at - +b.at);
  expect(first).toMatchObject({ at, first: { delivered: 10, failed: 0 }, retries: { delivered: 0, failed: 15 } });
  expect([first?.latencies[1], first?.latencies[3]]).toEqual([10, 5]);
  expect(second).toMatchObject({ at: later, retries: none });
  expect(more).toEqual([]);
  expect(await statistics.read(newId('we'), [at])).toEqual([]);
});
