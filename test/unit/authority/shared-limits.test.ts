import { expect, it } from 'vitest';
import { createLimits } from '../../../src/adapters/authority/http/limits.ts';
import { createLiveGate } from '../../../src/domain/authority/live-gate.ts';
import { answering } from '../../support/authority.ts';
import { memoryState } from '../../support/live-world.ts';

it('the workers that share a store share the limits: each adapter takes its part as they come and go', async () => {
  const store = memoryState();
  const told = { one: [] as number[], two: [] as number[] };
  const limits = createLimits({
    limits: () => ({ submissionsPerMinute: 8, lookUpsPerMinute: 8, lookUpsPerSubmissionPerHour: 8, concurrent: 8 }),
    concurrency: 8,
  });
  const gateOf = (worker: 'one' | 'two') =>
    createLiveGate({
      store,
      worker,
      authority: answering({}),
      concurrency: 8,
      report: () => undefined,
      onWorkers(count) {
        told[worker].push(count);
        if (worker === 'one') limits.setShare(count);
      },
    });
  const [one, two] = [gateOf('one'), gateOf('two')];
  await one.refresh();
  await two.refresh();
  await one.refresh();
  expect(told).toEqual({ one: [1, 2], two: [2] });
  const places = Array.from({ length: 8 }, () => limits.submission());
  expect(places.filter(({ free }) => free)).toHaveLength(4);
  await two.close();
  await one.refresh();
  expect(told.one).toEqual([1, 2, 1]);
});
