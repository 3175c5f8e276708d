import type { Db, Document } from 'mongodb';
import type { IssuedNumbers, NumberedDocument, SerialRange } from '../domain/invoice/periods/number-ledger.ts';
import { legalNumber } from '../domain/invoice/series-number.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { type NumberDocument, partsOfSeriesKey, seriesKey } from './invoice-numbers.ts';

/** Maximum number of documents that are read with one command. */
const AT_ONCE = 500;

/** The fields of a document that are read. */
const FIELDS = {
  kind: 1,
  status: 1,
  amount: 1,
  currency: 1,
  createdAt: 1,
  series: 1,
  ownNumber: 1,
  withheld: 1,
  'customer.name': 1,
  'replacedBy.invoiceId': 1,
  'replaces.invoice.id': 1,
  'credit.original.id': 1,
  'credit.original.number': 1,
  'credits.list.creditNoteId': 1,
  'credits.list.amount': 1,
} as const;

/** Reads the numbers of the service's series in the order of their keys, which is the order of their serials. */
export function createIssuedNumbers(db: Db): IssuedNumbers {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const invoices = db.collection<InvoiceDocument>('invoices');

  return {
    async taken(owner, series, range, limit, isBackwards = false) {
      const found = numbers
        .find({ _id: keysOf(owner, series, range) } as Document)
        .sort({ _id: isBackwards ? -1 : 1 })
        .limit(limit);
      return (await found.toArray()).map(({ _id, invoiceId, lostFrom }) => ({
        serial: serialOf(_id),
        invoiceId,
        lostFrom: lostFrom ?? null,
      }));
    },

    async lost(owner, series, range, limit) {
      const found = numbers
        .find({ _id: keysOf(owner, series, range), lostFrom: { $exists: true } } as Document, { hint: 'lost' })
        .sort({ _id: 1 })
        .limit(limit);
      return (await found.toArray()).map(({ _id, lostFrom = 0 }) => ({ from: lostFrom, through: serialOf(_id) }));
    },

    async documents(ids) {
      const found = new Map<string, NumberedDocument>();
      for (let first = 0; first < ids.length; first += AT_ONCE) {
        const some = ids.slice(first, first + AT_ONCE);
        const rows = invoices.find({ _id: { $in: some } }, { hint: { _id: 1 }, batchSize: AT_ONCE });
        for (const row of await rows.project<InvoiceDocument>(FIELDS).toArray())
          if (!row.withheld) found.set(row._id, numberedOf(row));
      }
      return found;
    },
  };
}

/** Returns the condition on the keys of a range of serials of a series. */
function keysOf(owner: Owner, name: string, { above, upTo }: SerialRange): Document {
  const keyOf = (serial: number) => seriesKey(owner, { name, serial });
  return { $gt: keyOf(above), $lte: keyOf(upTo ?? Number.MAX_SAFE_INTEGER) };
}

function serialOf(key: string): number {
  const parts = partsOfSeriesKey(key);
  if (!parts) throw new Error(`${key} is no number of the service's series`);
  return parts.serial;
}

function numberedOf(row: InvoiceDocument): NumberedDocument {
  const { _id: id, kind, status, amount, currency, createdAt, series, ownNumber, customer, credit, credits } = row;
  return {
    id,
    kind,
    status,
    amount,
    currency,
    createdAt,
    number: ownNumber ?? (series ? legalNumber(series) : null),
    customerName: customer.name,
    replacedById: row.replacedBy?.invoiceId ?? null,
    replacesId: row.replaces?.invoice.id ?? null,
    original: credit ? { id: credit.original.id, number: credit.original.number } : null,
    credits: credits?.list ?? [],
  };
}
