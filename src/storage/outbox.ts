import type { Db } from 'mongodb';
import { later } from '../domain/later.ts';
import type { Outbox } from '../domain/webhook/ports.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { sweep } from './leases.ts';
import { storeClock } from './store-clock.ts';

/**
 * The outbox, stored in the collection `invoices`: the update that adds an event marks its invoice as not yet
 * published.
 */
export function createOutbox(db: Db): Outbox {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const clock = storeClock(db.client);
  return {
    async takeUnpublished(limit, pauseMs) {
      const now = clock();
      const update = { $set: { 'outbox.dueAt': later(now, pauseMs) } };
      return (await sweep(invoices, 'outbox.dueAt', { limit, now, update })).map(invoiceOf);
    },
    async markPublished(published) {
      // One update for all invoices whose published events end at the same sequence number; most do.
      const bySequence = Map.groupBy(published, ({ sequence }) => sequence);
      await Promise.all(
        [...bySequence].map(([sequence, each]) =>
          invoices.updateMany(
            { _id: { $in: each.map(({ invoiceId }) => invoiceId) }, 'outbox.sequence': sequence },
            { $unset: { outbox: '' } },
          ),
        ),
      );
    },
  };
}
