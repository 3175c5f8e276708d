import { expect, it, vi } from 'vitest';
import type { LookUpRule } from '../../../src/domain/authority/reconciliation.ts';
import { createTakeHint, hintRule } from '../../../src/domain/authority/take-hint.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const LIMITS = { submissionsPerMinute: 600, lookUpsPerMinute: 600, lookUpsPerSubmissionPerHour: 60, concurrent: 16 };

/** @param due whether each attempt makes a look-up due */
function hints(due: (attempt: number) => boolean) {
  const rules: LookUpRule[] = [];
  const queued: string[] = [];
  const timers: (() => void)[] = [];
  const report = vi.fn();
  const invoice = pendingInvoice({ environment: 'live' });
  const takeHint = createTakeHint(
    {
      async makeLookUpDue(_id, rule) {
        rules.push(rule);
        return due(rules.length) ? invoice : null;
      },
    },
    { enqueue: async ({ id }) => void queued.push(id) },
    () => LIMITS,
    report,
    (work) => timers.push(work),
  );
  return { takeHint, rules, queued, timers, report, id: invoice.id };
}

it('wakes a worker for the invoice whose look-up it made due', async () => {
  const { takeHint, queued, timers, id, rules } = hints(() => true);
  await takeHint('inv_original');
  expect([queued, timers.length, rules]).toEqual([[id], 0, [{ quietMs: 5000, mostAnHour: 30 }]]);
});

it('that has no effect is tried twice more, however often it is repeated', async () => {
  const { takeHint, queued, timers, rules, id } = hints((attempt) => attempt > 4);
  await takeHint('inv_a');
  await takeHint('inv_a');
  await takeHint('inv_a');
  expect([queued.length, timers.length]).toEqual([0, 1]);
  timers[0]?.();
  await vi.waitFor(() => expect(timers).toHaveLength(2));
  expect(queued).toEqual([]);
  timers[1]?.();
  await vi.waitFor(() => expect(queued).toEqual([id]));
  expect([rules.length, timers.length]).toEqual([5, 2]);
  // It no longer waits.
  await takeHint('inv_a');
  expect(rules).toHaveLength(6);
});

it('keeps a bounded number of hints that wait', async () => {
  const { takeHint, timers } = hints(() => false);
  for (let i = 0; i < 1500; i++) await takeHint(`inv_${i}`);
  expect(timers).toHaveLength(1000);
});

it('fails with the store, so that the authority sends it again; later failures are reported', async () => {
  const { takeHint, timers, report } = hints((attempt) => {
    if (attempt !== 1) throw new Error('the store is away');
    return false;
  });
  await takeHint('inv_a');
  timers[0]?.();
  await vi.waitFor(() => expect(report).toHaveBeenCalledOnce());
  await expect(takeHint('inv_b')).rejects.toThrow('away');
});

it.each([
  [60, 30],
  [10, 5],
  [1, 0],
  [Number.POSITIVE_INFINITY, 30],
])('of a budget of %d look-ups an hour, hints use at most %d', (lookUpsPerSubmissionPerHour, most) => {
  expect(hintRule({ ...LIMITS, lookUpsPerSubmissionPerHour }).mostAnHour).toBe(most);
});
