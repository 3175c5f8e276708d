import type { Db } from 'mongodb';
import type { Outbox } from '../domain/webhook/delivery-ports.ts';
import { type InvoiceDocument, invoiceOf } from './invoices.ts';

/** The outbox of the collection `invoices`: each status change writes, with its event, that the log does not have it yet. */
export function createOutbox(db: Db): Outbox {
  const invoices = db.collection<InvoiceDocument>('invoices');
  return {
    async takeUnpublished(limit, pauseMs) {
      const now = new Date();
      const found = await invoices
        .find({ 'outbox.dueAt': { $lte: now } })
        .sort({ 'outbox.dueAt': 1 })
        .limit(limit)
        .toArray();
      if (found.length > 0) {
        await invoices.updateMany(
          { _id: { $in: found.map(({ _id }) => _id) }, 'outbox.dueAt': { $lte: now } },
          { $set: { 'outbox.dueAt': new Date(now.getTime() + pauseMs) } },
        );
      }
      return found.map(invoiceOf);
    },
    async markPublished(published) {
      await invoices.bulkWrite(
        published.map(({ invoiceId, sequence }) => ({
          updateOne: { filter: { _id: invoiceId, 'outbox.sequence': sequence }, update: { $unset: { outbox: '' } } },
        })),
        { ordered: false },
      );
    },
  };
}
