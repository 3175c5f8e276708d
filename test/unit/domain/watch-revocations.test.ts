import { expect, it } from 'vitest';
import { createWatchRevocations } from '../../../src/domain/api-key/watch-revocations.ts';

const CHECK_MS = 10;

it('notifies each follower of a revoked key once, queries all keys together, and makes no query without followers', async () => {
  const valid = new Set(['key_1', 'key_2']);
  const asked: string[][] = [];
  const failures: unknown[] = [];
  let away = false;
  const watch = createWatchRevocations(
    async (ids) => {
      asked.push([...ids]);
      if (away) throw new Error('away');
      return new Set(ids.filter((id) => valid.has(id)));
    },
    (error) => failures.push(error),
    CHECK_MS,
  );
  const told: string[] = [];
  const ends = [
    watch.follow('key_1', () => told.push('a')),
    watch.follow('key_1', () => told.push('b')),
    watch.follow('key_2', () => told.push('c')),
  ];
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  expect([told, asked[0]]).toEqual([[], ['key_1', 'key_2']]);
  // The store fails for a while: no follower is notified.
  away = true;
  valid.delete('key_1');
  await expect.poll(() => failures.length).toBeGreaterThan(1);
  expect(told).toEqual([]);
  away = false;
  await expect.poll(() => told).toEqual(['a', 'b']);
  await expect.poll(() => asked.at(-1)).toEqual(['key_2']);
  for (const end of ends) end();
  const before = asked.length;
  await new Promise((resolve) => setTimeout(resolve, CHECK_MS * 5));
  expect(asked.length).toBeLessThanOrEqual(before + 1);
  watch.close();
});
