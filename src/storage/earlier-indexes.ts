import type { Collection, Document } from 'mongodb';
import type { InvoiceDocument } from './invoice-document.ts';

/** Invoices that are moved at once. */
const BATCH = 1000;

/** An index of invoices that only earlier versions use, such as one with which they kept something unique. */
export interface EarlierIndex {
  readonly name: string;
  /** The field that the invoices in it have. */
  readonly field: string;
}

/**
 * Does with the invoices of an index of earlier versions what this version does instead of it, and then drops the index.
 * An index that exists says that this is not done yet; where there is none, this costs one round trip. It may run in
 * several processes at once, and again after it was interrupted. If the index is unique, no process of an earlier version
 * may run meanwhile or later (docs/decisions/0053).
 * @param move is called with up to 1,000 invoices, of which it gets the `needed` fields; it must be repeatable
 */
export async function replaceIndex(
  invoices: Collection<InvoiceDocument>,
  { name, field }: EarlierIndex,
  needed: Readonly<Record<string, 1>>,
  move: (batch: readonly InvoiceDocument[]) => Promise<unknown>,
): Promise<void> {
  if (!(await hasIndex(invoices, name))) return;
  try {
    const search = invoices
      .find({ [field]: { $exists: true } })
      .hint(name)
      .project<InvoiceDocument>(needed)
      .batchSize(BATCH);
    let batch: InvoiceDocument[] = [];
    for await (const invoice of search) {
      batch.push(invoice);
      if (batch.length < BATCH) continue;
      await move(batch);
      batch = [];
    }
    if (batch.length > 0) await move(batch);
  } catch (error) {
    // Another process that did the same drops the index, which ends the search.
    if (await hasIndex(invoices, name)) throw error;
  }
  await dropIndex(invoices, name);
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
