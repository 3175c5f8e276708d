import { expect, it } from 'vitest';
import { createDifferenceRepository } from '../../src/storage/authority-differences.ts';
import { createLedgerCopy } from '../../src/storage/authority-ledger.ts';
import { createReconciliationState } from '../../src/storage/reconciliation-state.ts';
import { reconcileGenerated } from '../support/generated-ledger.ts';
import { openTestStore } from '../support/store.ts';

it('a million entries are stored and compared in flat memory', async () => {
  const { db, close } = await openTestStore('reconcile-memory');
  try {
    const state = createReconciliationState(db);
    const { run, heapAfter } = await reconcileGenerated(1_000_000, [50_000, 1_000_000], {
      copy: createLedgerCopy(db),
      differences: createDifferenceRepository(db),
      state,
    });
    expect(run).toMatchObject({ outcome: 'complete', entries: 1_000_000, invoices: 1_000_000, found: 0 });
    expect(await state.last()).toEqual(run);
    const [early = 0, late = 0] = heapAfter;
    // An id of 10 characters for each entry would be 20 MB.
    expect(late - early).toBeLessThan(10_000_000);
  } finally {
    await close();
  }
});
