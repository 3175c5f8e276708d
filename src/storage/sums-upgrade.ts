import type { Db } from 'mongodb';
import type { InvoiceDocument } from './invoice-document.ts';
import { storeClock } from './store-clock.ts';

/** Number of invoices that are read together. */
const BATCH = 500;
const ABSENT = { $exists: false } as const;

/** Marks each invoice that is missing in the sums and in searches, so that the sweep of the sums finds it. */
export async function markUnsummed(db: Db): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const clock = storeClock(db.client);
  for (let after: string | undefined = ''; after !== undefined; ) {
    const found = await invoices
      .find({ _id: { $gt: after } }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(BATCH)
      .toArray();
    const ids = found.map(({ _id }) => _id);
    // An invoice in the outbox is summed when its event is published.
    const lacking = { searchTerms: ABSENT, outbox: ABSENT, unsummed: ABSENT, withheld: ABSENT };
    // Finds documents only by id: without the hint some servers use another index.
    const update = { $set: { unsummed: clock() } };
    await invoices.updateMany({ _id: { $in: ids }, ...lacking }, update, { hint: { _id: 1 } });
    after = ids.at(-1);
  }
}
