import type { Collection, Db } from 'mongodb';
import type { InvoiceIds } from '../domain/invoice/invoice-ids.ts';
import { type EarlierIndex, replaceIndex } from './earlier-indexes.ts';
import { insertNew } from './insert-new.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** An idempotency key with which an earlier version created an invoice under a random id. */
interface EarlierKeyDocument {
  /** The id that this version would have given to the invoice. */
  _id: string;
  /** The id that it has. */
  invoiceId: string;
}

/** The unique index with which an earlier version kept them. */
export const KEY_INDEX: EarlierIndex = { name: 'idempotency', field: 'idempotency.key' };

function earlierKeys(db: Db): Collection<EarlierKeyDocument> {
  return db.collection('earlier_idempotency_keys');
}

/**
 * Keeps the idempotency keys of invoices that an earlier version stored: see {@link replaceIndex}.
 */
export async function keepEarlierKeys(db: Db, ids: InvoiceIds): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const keys = earlierKeys(db);
  await replaceIndex(invoices, KEY_INDEX, { tenantId: 1, environment: 1, idempotency: 1 }, (batch) =>
    insertNew(
      keys,
      batch
        .map((invoice) => ({ _id: ids.ofKey(invoice, invoice.idempotency?.key ?? ''), invoiceId: invoice._id }))
        // Invoices of this version, if an earlier one ran again after it.
        .filter(({ _id, invoiceId }) => _id !== invoiceId),
    ),
  );
}

/** Whether the store has keys of an earlier version. No process of this version adds any. */
export async function hasEarlierKeys(db: Db): Promise<boolean> {
  return (await earlierKeys(db).findOne({}, { projection: { _id: 1 } })) !== null;
}

/** The invoice of an earlier version that has the idempotency key of which `invoiceId` is derived. */
export async function findByEarlierKey(db: Db, invoiceId: string): Promise<InvoiceDocument | null> {
  const earlier = await earlierKeys(db).findOne({ _id: invoiceId });
  return earlier && db.collection<InvoiceDocument>('invoices').findOne({ _id: earlier.invoiceId });
}
