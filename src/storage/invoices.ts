import type { Db, MongoClient } from 'mongodb';
import type { Invoice } from '../domain/invoice/invoice.ts';
import { type EarlierCreation, type InvoiceRepository, NumberTaken } from '../domain/invoice/repository.ts';
import type { Outcome, Through } from '../domain/kit/group.ts';
import { later } from '../domain/later.ts';
import { creditKeepingOf } from './credit-keeping.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertAll } from './insert-each.ts';
import { claimsOf } from './invoice-claims.ts';
import { documentOf, type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { type NumberDocument, type NumberedInvoices, ownNumberKey, reserveAll } from './invoice-numbers.ts';
import { readingOf } from './invoice-reading.ts';
import { transitionsOf } from './invoice-transitions.ts';
import { waitingWorkOf } from './invoice-work.ts';
import { createOrderedInsert, TurnOver } from './ordered-insert.ts';
import { afterWaiting } from './period-sums.ts';
import { storeAheadMs, storeClock } from './store-clock.ts';

/**
 * Maximum number of new invoices in a command, and of their lines together. An invoice with more lines is written
 * alone.
 */
const MAX_INVOICES = 64;
const MAX_LINES = 1000;

/** Stores invoices in the collection `invoices`, and the numbers that they have taken in `invoice_numbers`. */
export function createInvoiceRepository(db: Db, background?: Through): InvoiceRepository {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const stores = { invoices, numbers };
  const clock = storeClock(db.client);
  const group = {
    maxItems: MAX_INVOICES,
    maxWeight: MAX_LINES,
    weightOf: ({ lines }: InvoiceDocument) => lines.length,
  };
  const write = createOrderedInsert(db, invoices, {
    ...group,
    listOf: ({ tenantId, environment }) => `${tenantId} ${environment}`,
    follow: (document, after) => ({ ...document, after }),
    isApart: ({ ownNumber }) => ownNumber !== undefined,
    writeApart: (documents, canBegin) => insertNumbered(stores, db.client, documents, canBegin),
  });
  /** Sets the due time of the work by the clock of the store. */
  function byStore(work: Invoice['work']): Invoice['work'] {
    const ms = storeAheadMs(db.client);
    return work && { ...work, dueAt: later(work.dueAt, ms), since: later(work.since, ms) };
  }
  return {
    async insert(invoice, order, mark) {
      const document = {
        ...documentOf({ ...invoice, work: byStore(invoice.work) }, order, mark),
        unsummed: afterWaiting(clock()),
      };
      try {
        await write(document);
        return { invoice, earlier: null };
      } catch (error) {
        if (!isTaken(error)) throw error;
        // A replayed request has the id of the earlier invoice, and therefore its number.
        const earlier = mark && (await invoices.findOne({ _id: invoice.id }));
        if (earlier) return replayOf(earlier);
        if (invoice.ownNumber === null) throw error;
        throw new NumberTaken(`the number ${invoice.ownNumber} is taken`);
      }
    },

    async findCreatedAs(invoiceId) {
      const document = await invoices.findOne({ _id: invoiceId });
      return document?.idempotency ? replayOf(document) : null;
    },

    ...readingOf(stores),
    ...transitionsOf(stores, db.client, background),
    ...creditKeepingOf(invoices),
    ...waitingWorkOf(invoices, clock),
    ...claimsOf(invoices, clock),
  };
}

/**
 * Inserts invoices and takes the numbers of clients' own series, in one transaction. If an invoice cannot be inserted,
 * retries each half of the invoices in a transaction of its own. So each invoice is stored together with its number, or
 * not at all.
 * @param canBegin whether there is time for a transaction
 * @returns an outcome for each invoice, in order
 */
async function insertNumbered(
  stores: NumberedInvoices,
  client: MongoClient,
  documents: readonly InvoiceDocument[],
  canBegin: () => boolean,
): Promise<Outcome<null>[]> {
  const taken = documents.map((document) => ({
    _id: ownNumberKey(document, document.ownNumber ?? ''),
    invoiceId: document._id,
  }));
  try {
    await client.withSession((session) =>
      session.withTransaction(async () => {
        // Also checked before each retry after a conflict with another transaction.
        if (!canBegin()) throw new TurnOver();
        await insertAll(stores.invoices, documents, session);
        await reserveAll(stores.numbers, taken, session);
      }),
    );
    return documents.map(() => ({ result: null }));
  } catch (error) {
    if (error instanceof TurnOver) return documents.map(() => ({ error }));
    if (!isTaken(error)) throw error;
    if (documents.length === 1) return [{ error }];
    const middle = Math.ceil(documents.length / 2);
    const first = await insertNumbered(stores, client, documents.slice(0, middle), canBegin);
    return [...first, ...(await insertNumbered(stores, client, documents.slice(middle), canBegin))];
  }
}

function replayOf(earlier: InvoiceDocument): EarlierCreation {
  if (!earlier.idempotency) throw new Error(`invoice ${earlier._id} was created without an idempotency key`);
  return { invoice: invoiceOf(earlier), earlier: earlier.idempotency };
}

/** Whether the insertion failed because the invoice's id or number already exists. */
function isTaken(error: unknown): boolean {
  return isDuplicateKey(error) || error instanceof NumberTaken;
}
