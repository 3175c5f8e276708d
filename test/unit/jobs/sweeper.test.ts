import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PendingWork } from '../../../src/domain/invoice/repository.ts';
import { createSweeper, type SweeperParts } from '../../../src/jobs/sweeper.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Invoices with the moments from which they are overdue, and what was asked of them. */
function store(ids: readonly string[]) {
  const sweepAt = new Map(ids.map((id, i) => [id, Date.now() - 1_000_000 + i]));
  const looks = { batches: 0, postponed: 0, pauses: new Set<number>() };
  const isOverdue = (id: string) => (sweepAt.get(id) ?? Number.POSITIVE_INFINITY) <= Date.now();
  const invoices: SweeperParts['invoices'] = {
    async overdue(limit) {
      looks.batches++;
      const found = ids.filter(isOverdue).sort((a, b) => sweepAt.get(a)! - sweepAt.get(b)!);
      return found
        .slice(0, limit)
        .map((id) => ({ invoiceId: id, environment: 'test', stage: 'sign', since: new Date(0) }));
    },
    async takeOverdue(id, pauseMs) {
      if (!isOverdue(id)) return false;
      sweepAt.set(id, Date.now() + pauseMs);
      return true;
    },
    async postponeOverdue(several, pauseMs) {
      looks.pauses.add(pauseMs);
      for (const id of several) {
        looks.postponed++;
        sweepAt.set(id, Date.now() + pauseMs);
      }
    },
  };
  return { invoices, looks };
}

function sweeperOf(invoices: SweeperParts['invoices'], isLost: (id: string) => boolean) {
  const queued: string[] = [];
  const errors: unknown[] = [];
  const sweeper = createSweeper({
    invoices,
    jobs: {
      alive: async (works: readonly PendingWork[]) =>
        new Set(works.map(({ invoiceId }) => invoiceId).filter((id) => !isLost(id))),
      renew: async ({ invoiceId }) => void queued.push(invoiceId),
    },
    report: (error) => errors.push(error),
  });
  return { sweeper, queued, errors };
}

it('finds a lost invoice at once behind thousands that are only late', async () => {
  const ids = Array.from({ length: 5000 }, (_, i) => `inv_${i}`);
  const { invoices, looks } = store(ids);
  const { sweeper, queued } = sweeperOf(invoices, (id) => id === 'inv_4999');
  sweeper.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(queued).toEqual(['inv_4999']);
  expect(looks.batches).toBe(26);
  await sweeper.stop();
});

it('a backlog costs about as much whatever its length, and each invoice of it is looked at again', async () => {
  const looksIn = async (length: number) => {
    const { invoices, looks } = store(Array.from({ length }, (_, i) => `inv_${i}`));
    const { sweeper } = sweeperOf(invoices, () => false);
    sweeper.start();
    await vi.advanceTimersByTimeAsync(120_000);
    await sweeper.stop();
    return looks.postponed;
  };
  const [short, long] = [await looksIn(1000), await looksIn(10_000)];
  expect(long / short).toBeLessThan(5);
  expect(long).toBeGreaterThan(10_000);
});

it('goes on after a failure, and ends with stop', async () => {
  const { invoices, looks } = store(['inv_1']);
  const failing = { ...invoices, overdue: vi.fn(invoices.overdue).mockRejectedValueOnce(new Error('store')) };
  const { sweeper, queued, errors } = sweeperOf(failing, () => true);
  sweeper.start();
  await vi.advanceTimersByTimeAsync(1500);
  expect([queued, errors.length]).toEqual([['inv_1'], 1]);
  await sweeper.stop();
  const { batches } = looks;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(looks.batches).toBe(batches);
});
