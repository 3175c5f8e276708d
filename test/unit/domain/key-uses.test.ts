import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createKeyUses, type KeyUse } from '../../../src/domain/api-key/key-uses.ts';

beforeEach(() => vi.useFakeTimers({ now: Date.UTC(2026, 10, 30, 8, 0, 20) }));
afterEach(() => vi.useRealTimers());

const MINUTE = 60_000;

function uses(write?: (uses: readonly KeyUse[]) => Promise<void>) {
  const written: string[] = [];
  const failures: unknown[] = [];
  const keep = async (some: readonly KeyUse[]) => {
    await write?.(some);
    written.push(...some.map(({ keyId, at }) => `${keyId} ${at.toISOString().slice(11, 19)}`));
  };
  return { ...createKeyUses(keep, (failure) => failures.push(failure)), written, failures };
}

it('writes the first use soon, and later ones once in five minutes, to the minute', async () => {
  const { note, written, stop } = uses();
  note('a');
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(written.splice(0)).toEqual(['a 08:00:00']);
  for (let second = 0; second < 600; second++) {
    note('a');
    if (second === 30) note('b');
    await vi.advanceTimersByTimeAsync(1000);
  }
  // Ten minutes of use: two writes of each process, however many requests.
  expect(written.filter((each) => each.startsWith('a'))).toHaveLength(2);
  expect(written.filter((each) => each.startsWith('b'))).toHaveLength(1);
  // A key that is not used any more is not written any more, once its last use is.
  await vi.advanceTimersByTimeAsync(20 * MINUTE);
  const rest = written.length;
  await vi.advanceTimersByTimeAsync(20 * MINUTE);
  expect(written).toHaveLength(rest);
  await stop(1000);
});

it('writes what is left when it stops, and again what the store refused', async () => {
  let isAway = true;
  const { note, written, failures, stop } = uses(async () => {
    if (isAway) throw new Error('away');
  });
  note('a');
  await vi.advanceTimersByTimeAsync(11_000);
  expect([written, failures.length]).toEqual([[], 1]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(11_000);
  expect(written.splice(0)).toEqual(['a 08:00:00']);
  await vi.advanceTimersByTimeAsync(2 * MINUTE);
  note('a');
  const stopped = stop(1000);
  await vi.advanceTimersByTimeAsync(1100);
  await stopped;
  expect(written).toEqual(['a 08:02:00']);
});

it('remembers a bounded number of keys, and ends within its time', async () => {
  const { note, written, stop } = uses();
  for (let n = 0; n < 30_000; n++) note(`key_${n}`);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(written).toHaveLength(10_000);
  await stop(1000);
  const hanging = uses(() => new Promise(() => {}));
  hanging.note('a');
  const stopped = hanging.stop(1000);
  await vi.advanceTimersByTimeAsync(1100);
  await stopped;
});
