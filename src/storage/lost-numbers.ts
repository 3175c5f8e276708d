import type { Db } from 'mongodb';
import { type LostNumbers, lostNumberFault } from '../domain/invoice/lost-numbers.ts';
import { insertNew } from './insert-new.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { highestSerial, type NumberDocument, seriesKey } from './invoice-numbers.ts';
import { hasLiveWorker } from './other-writers.ts';
import { awaitsUpgrade } from './upgrades.ts';

/** Stored in place of the invoice's id for a lost number. */
const NO_INVOICE = 'lost';

export function createLostNumbers(db: Db): LostNumbers {
  const numbers = db.collection<NumberDocument>('invoice_numbers');
  const invoices = db.collection<InvoiceDocument>('invoices');
  return {
    async continueAfter(owner, number, { mayBegin }) {
      if (await hasLiveWorker(db)) throw new Error('a worker of the service runs. Stop all of them, then repeat this');
      if (await awaitsUpgrade(db))
        throw new Error('this data is of an earlier version of the program. Repeat this after a start has upgraded it');
      const highest = await highestSerial({ invoices, numbers }, owner, number.name);
      const fault = lostNumberFault(number, highest, new Date());
      if (fault !== null) throw new Error(fault);
      if (highest === 0 && !mayBegin) return 'empty';
      if (number.serial <= highest) return 'reached';
      // The series continues after a number without an invoice as after any other.
      const mark = { _id: seriesKey(owner, number), invoiceId: NO_INVOICE, lostFrom: highest + 1 };
      if ((await insertNew(numbers, [mark])).size === 0) return 'reached';
      return { from: highest + 1, until: number.serial };
    },
  };
}
