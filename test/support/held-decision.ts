import { expect } from 'vitest';
import type { TestService } from './service.ts';

/** The ICE of customers whose invoices are decided after a minute, so that {@link holdDecision} comes in time. */
export const SLOW_CUSTOMER = '999000000000878';

/**
 * Keeps the test authority from deciding about an invoice for {@link SLOW_CUSTOMER}, independent of the test's
 * duration.
 * @returns a function that lets the authority accept the invoice now
 */
export async function holdDecision({ app }: TestService, invoiceId: string): Promise<() => Promise<void>> {
  const ledger = app.store.db.collection<{ _id: string }>('mock_submissions');
  const invoices = app.store.db.collection<{ _id: string }>('invoices');
  const answerAt = async (at: Date) => {
    const times = { $set: { receiptAt: at, decisionAt: at } };
    return (await ledger.updateOne({ _id: invoiceId }, times)).matchedCount;
  };
  await expect.poll(() => answerAt(new Date(Date.now() + 3_600_000))).toBe(1);
  return async () => {
    await answerAt(new Date());
    // Waits until no worker is asking the authority about it.
    const waiting = { _id: invoiceId, 'work.token': null };
    const due = { $set: { 'work.dueAt': new Date() } };
    await expect.poll(async () => (await invoices.updateOne(waiting, due)).matchedCount).toBe(1);
  };
}
