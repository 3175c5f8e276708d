import type { Collection } from 'mongodb';
import { newInvoice } from '../../src/domain/invoice/create-invoice.ts';
import { inputOfRestBody } from '../../src/domain/invoice/create-invoice-input.ts';
import { seriesYear } from '../../src/domain/invoice/legal-invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import { documentOf, type InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { transition } from './invoice-update.ts';
import { invoiceBody, readBody } from './throughput-invoice.ts';

/** Number of invoices in one command. */
const BATCH = 500;

/** Stores `count` pending invoices of `lines` lines, whose processing is due. @returns their ids */
export function storePending(
  invoices: Collection<InvoiceDocument>,
  owner: Member,
  { count, lines }: { readonly count: number; readonly lines: number },
): Promise<string[]> {
  return store(invoices, owner, { count, lines }, (document) => document);
}

/** Stores `count` accepted invoices, numbered from 1, for which nothing is left to do; one in a hundred is rejected. */
export function storeDone(
  invoices: Collection<InvoiceDocument>,
  owner: Member,
  { count, lines }: { readonly count: number; readonly lines: number },
): Promise<string[]> {
  let serial = 0;
  return store(invoices, owner, { count, lines }, ({ work: _done, ...document }) => {
    serial++;
    const status = serial % 100 === 0 ? 'rejected' : 'accepted';
    const series = { year: seriesYear(document.createdAt), serial };
    const dgiId = status === 'accepted' ? `DGI-TEST-${String(serial).padStart(16, '0')}` : null;
    const { $set, $push } = transition(0, status, { series, dgiId });
    return { ...document, ...($set as Partial<InvoiceDocument>), events: [($push as { events: never }).events] };
  });
}

async function store(
  invoices: Collection<InvoiceDocument>,
  owner: Member,
  { count, lines }: { readonly count: number; readonly lines: number },
  change: (document: InvoiceDocument) => InvoiceDocument,
): Promise<string[]> {
  const input = inputOfRestBody(readBody(invoiceBody(lines)));
  const ids: string[] = [];
  while (ids.length < count) {
    const group = Array.from({ length: Math.min(count - ids.length, BATCH) }, () => {
      const { createdAt, order } = newCreationMoment();
      return change(documentOf(newInvoice(owner, input, createdAt), order, null));
    });
    await invoices.insertMany(group, { ordered: false });
    for (const { _id } of group) ids.push(_id);
  }
  return ids;
}
