import type { Db } from 'mongodb';
import { customerKey } from '../domain/invoice/customer-key.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** Invoices that are read and changed at once. */
const BATCH = 1000;

/**
 * Gives the invoices that an earlier version stored the key by which their customer is found. It reads all invoices. It
 * may run in several processes at once, and again after it was interrupted.
 */
export async function keyEarlierCustomers(db: Db): Promise<void> {
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
    if (batch.length < BATCH) return;
    last = batch.at(-1)?._id ?? last;
  }
}
