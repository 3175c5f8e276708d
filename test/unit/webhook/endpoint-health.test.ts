import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createEndpointHealth } from '../../../src/domain/webhook/endpoint-health.ts';

const nowhere = () => Promise.reject(new Error('not asked here'));

/** The health of endpoints over a store whose writes end when `end` is called for the oldest. */
function health() {
  const written: string[] = [];
  const open: (() => void)[] = [];
  const reports: string[] = [];
  const write = (what: string) => async (endpointId: string) => {
    await new Promise<void>((resolve) => open.push(resolve));
    written.push(`${endpointId} ${what}`);
  };
  const { noteResult } = createEndpointHealth({
    endpoints: {
      noteFailure: write('failed'),
      noteSuccess: write('delivered'),
      takeToJudge: nowhere,
      markJudged: nowhere,
    },
    deliveries: { page: nowhere },
    statistics: nowhere,
    ownersOf: nowhere,
    tenants: { find: nowhere },
    notifier: { endpointFails: nowhere },
    now: () => new Date(),
    report: (message) => reports.push(message),
  });
  return { noteResult, written, open, reports };
}

it('results of an endpoint are stored in their order, those of others meanwhile', async () => {
  const { noteResult, written, open, reports } = health();
  noteResult('we_1', false);
  noteResult('we_1', true);
  noteResult('we_2', true);
  await sleep(1);
  // The success of the first waits for the failure before it.
  expect(open).toHaveLength(2);
  open[1]?.();
  await expect.poll(() => written).toEqual(['we_2 delivered']);
  open[0]?.();
  await expect.poll(() => open).toHaveLength(3);
  open[2]?.();
  await expect.poll(() => written).toEqual(['we_2 delivered', 'we_1 failed', 'we_1 delivered']);
  expect(reports).toEqual([]);
});
