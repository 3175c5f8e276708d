import type { AnyBulkWriteOperation, Db, Filter, UpdateFilter } from 'mongodb';
import { HURRIED_LANE } from '../domain/invoice/lanes.ts';
import { replaceIndex } from './earlier-indexes.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { placeFields, type StoredWork } from './stored-work.ts';

type Placed = Pick<InvoiceDocument, '_id' | 'tenantId' | 'environment'> & { readonly work: StoredWork };

const NEEDED = { tenantId: 1, environment: 1, work: 1 } as const;

/** Gives idle work a place if it has none, as the first versions stored it: no worker finds it otherwise. Repeatable. */
export async function placeEarlierIdleWork(db: Db): Promise<void> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const place = async (found: readonly Placed[]): Promise<void> => {
    const updates = found.map((document): AnyBulkWriteOperation<InvoiceDocument> => {
      const { _id, work } = document;
      const { stage, parked = false, idle = false, blocked = null } = work;
      const $set = placeFields({ ...document, id: _id }, { stage, parked, idle, blocked });
      // Unless somebody has asked for the document meanwhile.
      const filter = { _id, 'work.idle': idle || { $exists: false }, 'work.partition': { $exists: false } };
      return {
        updateOne: { filter: filter as Filter<InvoiceDocument>, update: { $set } as UpdateFilter<InvoiceDocument> },
      };
    });
    if (updates.length > 0) await invoices.bulkWrite(updates, { ordered: false });
  };
  await replaceIndex(invoices, { name: 'idle', field: 'work.idle' }, NEEDED, (batch) =>
    place((batch as readonly Placed[]).filter(({ work }) => work.partition === undefined)),
  );
  // Asked for since, such work has a lane and still no partition.
  const hurried = { 'work.lane': HURRIED_LANE, 'work.partition': null } as Filter<InvoiceDocument>;
  await place(await invoices.find(hurried, { hint: 'queue' }).project<Placed>(NEEDED).toArray());
}
