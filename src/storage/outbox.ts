import type { Db } from 'mongodb';
import { later } from '../domain/later.ts';
import type { Outbox } from '../domain/webhook/ports.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { sweep } from './leases.ts';
import { storeClock } from './store-clock.ts';

/**
 * The outbox, stored in the collection `invoices`: the update that adds an event marks its invoice as not yet
 * published. Recording the invoice in the sums of periods removes the mark.
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
  };
}
