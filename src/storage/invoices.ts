import type { Db } from 'mongodb';
import { createGroup, type Through } from '../domain/grouped.ts';
import { type InvoiceRepository, NumberTaken } from '../domain/invoice/repository.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';
import { claimsOf } from './invoice-claims.ts';
import { documentOf, type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { findByKey, readingOf } from './invoice-reading.ts';
import { transitionsOf } from './invoice-transitions.ts';
import { waitingWorkOf } from './invoice-work.ts';

/** Maximum number of new invoices in a command, and of their lines together; a longer invoice goes alone. */
const MAX_INVOICES = 64;
const MAX_LINES = 1000;

/** Invoices in the collection `invoices`. */
export function createInvoiceRepository(db: Db, background?: Through): InvoiceRepository {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const write = createGroup<InvoiceDocument, null>((documents) => insertEach(invoices, documents), {
    ...{ maxItems: MAX_INVOICES, maxWeight: MAX_LINES, weightOf: ({ lines }) => lines.length },
  });
  return {
    async insert(invoice, order, mark) {
      try {
        return await write(documentOf(invoice, order, mark));
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
    ...transitionsOf(invoices, db.client, background),
    ...waitingWorkOf(invoices),
    ...claimsOf(invoices),
  };
}
