import type { Db } from 'mongodb';
import { type EarlierIndex, replaceIndex } from './earlier-indexes.ts';
import { insertNew } from './insert-new.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { type NumberDocument, ownNumberKey, seriesKey } from './invoice-numbers.ts';

/** The unique indexes with which an earlier version kept numbers. */
export const NUMBER_INDEXES: readonly EarlierIndex[] = [
  { name: 'series', field: 'series.serial' },
  { name: 'own_number', field: 'ownNumber' },
];

/** Takes the numbers of invoices that an earlier version stored: see {@link replaceIndex}. */
export async function reserveEarlierNumbers(db: Db): Promise<void> {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const needed = { tenantId: 1, environment: 1, series: 1, ownNumber: 1 } as const;
  for (const index of NUMBER_INDEXES) {
    await replaceIndex(db.collection<InvoiceDocument>('invoices'), index, needed, (batch) =>
      insertNew(
        numbers,
        batch.map((invoice) => ({ _id: keyOf(invoice), invoiceId: invoice._id })),
      ),
    );
  }
}

function keyOf(invoice: InvoiceDocument): string {
  const { series, ownNumber } = invoice;
  if (ownNumber !== undefined) return ownNumberKey(invoice, ownNumber);
  if (series) return seriesKey(invoice, series);
  throw new Error(`invoice ${invoice._id} has no number, but is in the index of numbers`);
}
