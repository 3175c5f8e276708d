import type { Collection, Db } from 'mongodb';
import { newInvoice } from '../../src/domain/invoice/create-invoice.ts';
import { inputOfRestBody } from '../../src/domain/invoice/create-invoice-input.ts';
import type { InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import { NO_SUMS, plus, type Sums, sumsOfOne } from '../../src/domain/invoice/periods/day-sums.ts';
import { summedOf } from '../../src/domain/invoice/periods/summed-invoice.ts';
import { seriesOf } from '../../src/domain/invoice/series-number.ts';
import { newCreationMoment, orderAt } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import { additionOf, DAY_SUMS_COLLECTION, type DaySumsDocument, dayKey } from '../../src/storage/day-sums.ts';
import { documentOf, type InvoiceDocument, invoiceOf } from '../../src/storage/invoice-document.ts';
import { transition } from './invoice-update.ts';
import { invoiceBody, readBody } from './throughput-invoice.ts';

/** Number of invoices in one command. */
const BATCH = 500;
/** The part of an order key that is its time. */
const TIME_DIGITS = 12;

interface StoredInvoices {
  readonly count: number;
  readonly lines: number;
  /** Time over which they were created evenly, up to now, milliseconds; default: all now. */
  readonly overMs?: number;
}

/** Stores `count` pending invoices of `lines` lines, whose processing is due. @returns their ids */
export function storePending(
  invoices: Collection<InvoiceDocument>,
  owner: Member,
  stored: StoredInvoices,
): Promise<string[]> {
  return store(invoices, owner, stored, (document) => document);
}

/** Stores `count` pending invoices that nobody will process. @returns their ids */
export function storeIdle(
  invoices: Collection<InvoiceDocument>,
  owner: Member,
  stored: StoredInvoices,
): Promise<string[]> {
  return store(invoices, owner, stored, ({ work: _never, ...document }) => document);
}

/**
 * Stores `count` accepted invoices, numbered from 1, without further work; one in 100 is rejected. They are in the
 * sums, and a search finds them.
 * @returns their ids, oldest first
 */
export async function storeDone(db: Db, owner: Member, stored: StoredInvoices): Promise<string[]> {
  let serial = 0;
  const days = new Map<string, Map<InvoiceStatus, Sums>>();
  const ids = await store(invoicesOf(db), owner, stored, ({ work: _done, unsummed: _summed, ...document }) => {
    serial++;
    const status = serial % 100 === 0 ? 'rejected' : 'accepted';
    const series = { name: seriesOf(document), serial };
    const dgiId = status === 'accepted' ? `DGI-TEST-${String(serial).padStart(16, '0')}` : null;
    const { $set, $push } = transition(0, status, { series, dgiId });
    const done = { ...document, ...($set as Partial<InvoiceDocument>), events: [($push as { events: never }).events] };
    const summed = summedOf(invoiceOf(done));
    const key = dayKey(summed, summed.date);
    const ofDay = days.get(key) ?? new Map<InvoiceStatus, Sums>();
    days.set(key, ofDay.set(status, plus(ofDay.get(status) ?? NO_SUMS, sumsOfOne(summed))));
    return { ...done, summed: status, searchTerms: [...summed.searchTerms] };
  });
  const updates = [...days].map(([_id, ofDay]) => {
    const sums = [...ofDay].map(([status, each]) => ({ ...each, kind: 'invoice' as const, status }));
    return { updateOne: { filter: { _id }, update: additionOf(sums), upsert: true } };
  });
  await db.collection<DaySumsDocument>(DAY_SUMS_COLLECTION).bulkWrite(updates);
  return ids;
}

function invoicesOf(db: Db): Collection<InvoiceDocument> {
  return db.collection('invoices');
}

async function store(
  invoices: Collection<InvoiceDocument>,
  owner: Member,
  { count, lines, overMs = 0 }: StoredInvoices,
  change: (document: InvoiceDocument) => InvoiceDocument,
): Promise<string[]> {
  const input = inputOfRestBody(readBody(invoiceBody(lines)));
  const ids: string[] = [];
  while (ids.length < count) {
    const group = Array.from({ length: Math.min(count - ids.length, BATCH) }, (_, nth) => {
      const age = Math.floor(overMs * (1 - (ids.length + nth + 1) / count));
      // A moment of this process is never before the last one, so the earlier time replaces its beginning.
      const moment = newCreationMoment();
      const createdAt = new Date(moment.createdAt.getTime() - age);
      const order = orderAt(createdAt.getTime()).slice(0, TIME_DIGITS) + moment.order.slice(TIME_DIGITS);
      return change(documentOf(newInvoice(owner, input, createdAt), order, null));
    });
    await invoices.insertMany(group, { ordered: false });
    for (const { _id } of group) ids.push(_id);
  }
  return ids;
}
