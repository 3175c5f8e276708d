import type { Db } from 'mongodb';
import { customerKey } from '../domain/invoice/customer-key.ts';
import { insertNew } from './insert-new.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** Invoices that are read and changed at once. */
const BATCH = 1000;
/** Entry of the collection `installation` that says that this is done. */
const DONE = 'customer-keys';

/**
 * Gives the invoices that an earlier version stored the key by which their customer is found. Done once; later it costs
 * one round trip. It may run in several processes at once, and again after it was interrupted. No process of an earlier
 * version may run meanwhile or later (docs/decisions/0053).
 */
export async function keyEarlierCustomers(db: Db): Promise<void> {
  const facts = db.collection<{ _id: string }>('installation');
  if (await facts.findOne({ _id: DONE })) return;
  const invoices = db.collection<InvoiceDocument>('invoices');
  let last = '';
  for (;;) {
    const batch = await invoices
      .find({ _id: { $gt: last } })
      .sort({ _id: 1 })
      .project<Pick<InvoiceDocument, '_id' | 'customer' | 'customerKey'>>({ customer: 1, customerKey: 1 })
      .limit(BATCH)
      .toArray();
    const missing = batch.filter((invoice) => invoice.customerKey === undefined);
    if (missing.length > 0) {
      const changes = missing.map(({ _id, customer }) => ({
        updateOne: { filter: { _id }, update: { $set: { customerKey: customerKey(customer.name) } } },
      }));
      await invoices.bulkWrite(changes, { ordered: false });
    }
    if (batch.length < BATCH) break;
    last = batch.at(-1)?._id ?? last;
  }
  await insertNew(facts, [{ _id: DONE }]);
}
