import type { Collection, Db, Document } from 'mongodb';
import { insertNew } from './insert-new.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { type NumberDocument, ownNumberKey, seriesKey } from './invoice-numbers.ts';

/** Numbers that one command takes. */
const BATCH = 1000;

/** The unique indexes of invoices with which earlier versions kept numbers unique, and the field that each one is of. */
const EARLIER_INDEXES = { series: 'series.serial', own_number: 'ownNumber' } as const;

/**
 * Takes the numbers of invoices that an earlier version stored, and then drops its unique indexes. An index that exists
 * says that this is not done yet; where there is none, this costs one round trip. It may run in several processes at
 * once, and again after it was interrupted. No process of an earlier version may run meanwhile or later
 * (docs/decisions/0053).
 */
export async function reserveEarlierNumbers(db: Db): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  for (const [index, field] of Object.entries(EARLIER_INDEXES)) {
    if (!(await hasIndex(invoices, index))) continue;
    try {
      await reserveIndexed(invoices, numbers, index, field);
    } catch (error) {
      // Another process that did the same drops the index, which ends the search.
      if (await hasIndex(invoices, index)) throw error;
    }
    await dropIndex(invoices, index);
  }
}

async function reserveIndexed(
  invoices: Collection<InvoiceDocument>,
  numbers: Collection<NumberDocument>,
  index: string,
  field: string,
): Promise<void> {
  const search = invoices
    .find({ [field]: { $exists: true } })
    .hint(index)
    .project<InvoiceDocument>({ tenantId: 1, environment: 1, series: 1, ownNumber: 1 })
    .batchSize(BATCH);
  let batch: NumberDocument[] = [];
  for await (const invoice of search) {
    batch.push({ _id: keyOf(invoice), invoiceId: invoice._id });
    if (batch.length < BATCH) continue;
    await insertNew(numbers, batch);
    batch = [];
  }
  await insertNew(numbers, batch);
}

function keyOf(invoice: InvoiceDocument): string {
  const { series, ownNumber } = invoice;
  if (ownNumber !== undefined) return ownNumberKey(invoice, ownNumber);
  if (series) return seriesKey(invoice, series);
  throw new Error(`invoice ${invoice._id} has no number, but is in the index of numbers`);
}

async function hasIndex(collection: Collection<InvoiceDocument>, name: string): Promise<boolean> {
  const indexes: Document[] = await collection.listIndexes().toArray();
  return indexes.some((each) => each.name === name);
}

async function dropIndex(collection: Collection<InvoiceDocument>, name: string): Promise<void> {
  try {
    await collection.dropIndex(name);
  } catch (error) {
    if (await hasIndex(collection, name)) throw error;
  }
}
