import type { Agenda } from 'agenda';
import { expect, it, vi } from 'vitest';
import { createReconcileJob } from '../../../src/jobs/reconcile-job.ts';

const HOUR_MS = 3_600_000;

/** The schedules that a start stores, where the job is stored with this next run. */
async function storedAgain(nextRunAt: Date | null, stored: object = {}): Promise<number> {
  const every = vi.fn<(interval: string, name: string, data: object, options: { timezone: string }) => Promise<void>>(
    async () => undefined,
  );
  const start = async (jobs: readonly unknown[]) => {
    const agenda = { define: () => undefined, queryJobs: async () => ({ jobs }), every } as unknown as Agenda;
    const parts = { agenda, reconcile: async () => undefined, installation: 'one', report: () => undefined };
    await createReconcileJob(parts).start();
  };
  await start([]);
  const [repeatInterval, , , options] = every.mock.calls[0] ?? [];
  await start([{ repeatInterval, repeatTimezone: options?.timezone, nextRunAt, ...stored }]);
  return every.mock.calls.length - 1;
}

it('a run of the next night is left as it is, so that a start unlocks no job of another process', async () => {
  expect(await storedAgain(new Date(Date.now() + 24 * HOUR_MS))).toBe(0);
  // It runs now, or was due while nobody was there.
  expect(await storedAgain(new Date(Date.now() - HOUR_MS))).toBe(0);
  expect(await storedAgain(null)).toBe(0);
});

it('a run that was planned in another time zone is planned again', async () => {
  const nextRunAt = new Date(Date.now() + 24 * HOUR_MS);
  expect(await storedAgain(nextRunAt, { repeatTimezone: 'Africa/Casablanca' })).toBe(1);
});

it('a run that a clock far ahead has planned is planned again', async () => {
  expect(await storedAgain(new Date(Date.now() + 366 * 24 * HOUR_MS))).toBe(1);
});
