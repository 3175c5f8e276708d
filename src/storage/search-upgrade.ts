import type { Collection, Db, Filter, WithId } from 'mongodb';
import { termsOf } from '../domain/invoice/search/terms.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';

/** Number of invoices in a command, which may have a thousand lines each. */
const BATCH = 200;
/** What else a worker may write meanwhile that is searched. */
const SEARCHED = ['series', 'dgiId'] as const;

/**
 * Adds the terms of a search to invoices that lack them. Reads all invoices in the order of their ids, in batches.
 */
export async function addSearchTerms(db: Db): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  for (let last = ''; ; ) {
    const found = await invoices
      .find({ _id: { $gt: last } }, { hint: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(BATCH)
      .toArray();
    await addTo(invoices, found.filter(lacksTerms));
    const next = found.at(-1);
    if (!next) return;
    last = next._id;
  }
}

async function addTo(invoices: Collection<InvoiceDocument>, documents: readonly WithId<InvoiceDocument>[]) {
  if (documents.length === 0) return;
  const updates = documents.map((document) => {
    const asRead = Object.fromEntries(SEARCHED.map((name) => [name, document[name] ?? null]));
    const filter = { _id: document._id, searchTerms: { $exists: false }, ...asRead } as Filter<InvoiceDocument>;
    return { updateOne: { filter, update: { $set: { searchTerms: termsOf(invoiceOf(document)) } } } };
  });
  const { matchedCount } = await invoices.bulkWrite(updates, { ordered: false });
  if (matchedCount === documents.length) return;
  // Another process has added them, or has changed what is searched.
  const left = await invoices.find({ _id: { $in: documents.map(({ _id }) => _id) } }, { hint: { _id: 1 } }).toArray();
  await addTo(invoices, left.filter(lacksTerms));
}

function lacksTerms({ searchTerms }: Partial<InvoiceDocument>): boolean {
  return searchTerms === undefined;
}
