import { expect, it } from 'vitest';
import type { AttemptRecord } from '../../../src/domain/webhook/ports.ts';
import { createRecordAttempts } from '../../../src/domain/webhook/record-attempts.ts';

it('one batch is written at a time; a second writer starts when a full batch waits', async () => {
  const batches: { size: number; written: () => void }[] = [];
  const record = (records: readonly AttemptRecord[]) =>
    new Promise<void>((written) => batches.push({ size: records.length, written }));
  const records = createRecordAttempts({ record }, { wake: async () => undefined }, () => undefined);
  const attempt = { claim: { id: 'dlv' }, outcome: { state: 'delivered' } } as AttemptRecord;
  let done = 0;
  const hand = (count: number) => {
    for (let i = 0; i < count; i++) void records.record(attempt).then(() => done++);
  };
  const sizes = () => batches.map(({ size }) => size);
  hand(1);
  hand(249);
  expect(sizes()).toEqual([1]);
  hand(1);
  expect(sizes()).toEqual([1, 250]);
  hand(1000);
  expect(sizes()).toEqual([1, 250]);
  let over = false;
  const recorded = records.recorded().then(() => {
    over = true;
  });
  for (let next = 0; next < batches.length; next++) {
    expect(over).toBe(false);
    batches[next]?.written();
    await new Promise(setImmediate);
  }
  await recorded;
  expect([done, sizes().reduce((sum, size) => sum + size)]).toEqual([1251, 1251]);
  // The cycle repeats.
  hand(1);
  expect(sizes().at(-1)).toBe(1);
});
