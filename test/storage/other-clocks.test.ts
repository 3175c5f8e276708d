import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { ALL_PARTITIONS } from '../../src/domain/invoice/lanes.ts';
import type { InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createRateLimiter } from '../../src/storage/rate-limiter.ts';
import { createReconciliationState } from '../../src/storage/reconciliation-state.ts';
import { createSeriesTurns } from '../../src/storage/series-turns.ts';
import { claimOne, pendingInvoice } from '../support/invoices.ts';
import { openBeside, openTestStore } from '../support/store.ts';

const LEASE_MS = 20_000;
/** Far less than the clocks differ. */
const SOON = { timeout: 20_000, interval: 20 };

/** Of a process whose clock is that of the store. */
let store: Store;
/** Of a process with another clock. */
let other: Store;
let own: InvoiceRepository;
let others: InvoiceRepository;
beforeAll(async () => {
  store = await openTestStore('other_clocks');
  other = await openBeside(store, true);
  own = createInvoiceRepository(store.db);
  others = createInvoiceRepository(other.db);
});
afterEach(() => void vi.useRealTimers());
afterAll(async () => {
  await other.close();
  await store.close();
});

/** Runs what the process with another clock does. */
async function shifted<Result>(aheadMs: number, work: () => Promise<Result>): Promise<Result> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

describe.each([
  ['two minutes ahead', 120_000],
  ['two minutes behind', -120_000],
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
])('a process whose clock is %s', (_name, aheadMs) => {
  async function created(): Promise<string> {
    const invoice = pendingInvoice({ tenantId: newId('ten') });
    await own.insert(invoice, newCreationMoment().order, null);
    return invoice.id;
  }

  it('leaves to others the invoices that they hold', async () => {
    const id = await created();
    const claim = await claimOne(own, id, LEASE_MS);
    expect(await shifted(aheadMs, () => claimOne(others, id, LEASE_MS))).toBeNull();
    expect(await shifted(aheadMs, () => others.claimMany('stages', [id], LEASE_MS))).toEqual([]);
    const due = await shifted(aheadMs, () => others.due('stages', ALL_PARTITIONS, 100));
    expect(due.map(({ invoiceId }) => invoiceId)).not.toContain(id);
    if (claim) await own.change(claim, { work: null }, LEASE_MS);
  });

  it('takes up what is due, and its lease lasts for others', async () => {
    const id = await created();
    // The clocks that both take for the store's may differ by the time that a reply was late.
    await expect.poll(() => shifted(aheadMs, () => claimOne(others, id, LEASE_MS)), SOON).not.toBeNull();
    expect(await claimOne(own, id, LEASE_MS)).toBeNull();
  });

  it('creates invoices that are due at once', async () => {
    const invoice = await shifted(aheadMs, async () => {
      const made = pendingInvoice({ tenantId: newId('ten') });
      await others.insert(made, newCreationMoment().order, null);
      return made;
    });
    await expect.poll(() => claimOne(own, invoice.id, LEASE_MS), SOON).not.toBeNull();
  });

  it('waits for its turn at a series', async () => {
    const series = newId('ten');
    const leave = await createSeriesTurns(store.db, () => undefined).enter(series);
    let isIn = false;
    const entering = shifted(aheadMs, async () => {
      const end = await createSeriesTurns(other.db, () => undefined).enter(series);
      isIn = true;
      return end;
    });
    await sleep(300);
    expect(isIn).toBe(false);
    leave();
    (await entering)();
  });

  it('counts requests in the windows of others', async () => {
    const id = randomUUID();
    const limits = { secret: 3, tenant: 3, publishable: 3, address: 3, common: 3 };
    const [first, second] = [createRateLimiter(limits, store.db), createRateLimiter(limits, other.db)];
    const remaining: number[] = [];
    for (let nth = 0; nth < 2; nth++) {
      remaining.push((await first.consume('secret', id)).remaining);
      remaining.push((await shifted(aheadMs, () => second.consume('secret', id))).remaining);
    }
    expect(remaining).toEqual([2, 1, 0, 0]);
  });

  it('leaves to others the reconciliation that they do', async () => {
    const begun = await createReconciliationState(store.db).begin(60_000);
    expect(begun).not.toBeNull();
    const states = createReconciliationState(other.db);
    expect(await shifted(aheadMs, () => states.begin(60_000))).toBeNull();
    await createReconciliationState(store.db).release(begun?.token ?? '');
  });
});
