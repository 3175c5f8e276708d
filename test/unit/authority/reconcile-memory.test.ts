import { expect, it } from 'vitest';
import { reconcileGenerated } from '../../support/generated-ledger.ts';

it('needs no more memory for 200,000 entries than for 10,000', async () => {
  const { run, heapAfter } = await reconcileGenerated(200_000, [10_000, 200_000]);
  expect(run).toMatchObject({ outcome: 'complete', entries: 200_000, invoices: 200_000, found: 0 });
  const [early = 0, late = 0] = heapAfter;
  // An id of 10 characters for each entry would be 4.5 MB.
  expect(late - early).toBeLessThan(3_000_000);
});
