import type { Db } from 'mongodb';
import { type InvoiceRepository, NumberTaken } from '../domain/invoice/repository.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { claimsOf } from './invoice-claims.ts';
import { documentOf, type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { findByKey, readingOf } from './invoice-reading.ts';
import { transitionsOf } from './invoice-transitions.ts';
import { waitingWorkOf } from './invoice-work.ts';

/** Invoices in the collection `invoices`. */
export function createInvoiceRepository(db: Db): InvoiceRepository {
  const invoices = db.collection<InvoiceDocument>('invoices');
  return {
    async insert(invoice, order, mark) {
      try {
        await invoices.insertOne(documentOf(invoice, order, mark));
        return null;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // A replay may violate both unique indexes, and the server reports either of them.
        const earlier = mark && (await findByKey(invoices, invoice.tenantId, invoice.environment, mark.key));
        if (earlier?.idempotency) {
          return { invoice: invoiceOf(earlier), fingerprint: earlier.idempotency.fingerprint };
        }
        if (invoice.ownNumber === null) throw error;
        throw new NumberTaken(`the number ${invoice.ownNumber} is taken`);
      }
    },

    ...readingOf(invoices),
    ...transitionsOf(invoices, db.client),
    ...waitingWorkOf(invoices),
    ...claimsOf(invoices),
  };
}
