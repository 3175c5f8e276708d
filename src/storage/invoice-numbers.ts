import type { ClientSession, Collection, Filter, UpdateFilter } from 'mongodb';
import { NumberTaken } from '../domain/invoice/repository.ts';
import { type ReservedNumber, type SeriesNumber, seriesNumberOf } from '../domain/invoice/series-number.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertAll, insertEach } from './insert-each.ts';
import type { InvoiceDocument } from './invoice-document.ts';

/** A number that an invoice has taken. Its `_id` is the number, so no two invoices have the same one on any store. */
export interface NumberDocument {
  /** See {@link seriesKey} and {@link ownNumberKey}. */
  _id: string;
  invoiceId: string;
  /** The first serial of the lost invoices, whose last serial is this number. */
  lostFrom?: number;
}

/** The collections that hold the invoices and their numbers. */
export interface NumberedInvoices {
  readonly invoices: Collection<InvoiceDocument>;
  readonly numbers: Collection<NumberDocument>;
}

/** The maximum number of digits of a serial, so that the ids of a series have the order of its serials. */
const SERIAL_DIGITS = 16;

/** Returns the `_id` of a number of the service's series, e.g. `ten_1 test AV-2026 0000000000000123`. */
export function seriesKey(owner: Owner, { name, serial }: SeriesNumber): string {
  return `${seriesPrefix(owner, name)}${serial.toString().padStart(SERIAL_DIGITS, '0')}`;
}

/** Returns the parts of a key of {@link seriesKey}; null for a number of a client's own series. */
export function partsOfSeriesKey(
  key: string,
): (SeriesNumber & { readonly tenantId: string; readonly environment: string }) | null {
  const [tenantId = '', environment = '', name = '', serial] = key.split(' ');
  return name === 'own' ? null : { tenantId, environment, name, serial: Number(serial) };
}

function seriesPrefix({ tenantId, environment }: Owner, name: string): string {
  return `${tenantId} ${environment} ${name} `;
}

/** Returns the `_id` of a number of the client's own series, e.g. `ten_1 test own FA 1`. */
export function ownNumberKey({ tenantId, environment }: Owner, ownNumber: string): string {
  return `${tenantId} ${environment} own ${ownNumber}`;
}

/** Returns the `_id` of a number of either series. */
export function numberKey(owner: Owner, number: string): string {
  const series = seriesNumberOf(number);
  return series ? seriesKey(owner, series) : ownNumberKey(owner, number);
}

/** Returns the document that takes a number of the service's series. */
export function reservationOf({ invoice, series }: ReservedNumber): NumberDocument {
  return { _id: seriesKey(invoice, series), invoiceId: invoice.id };
}

/** Takes the free numbers. @returns for each entry, in order, why it did not get its number, or null */
export async function reserveEach(
  numbers: Collection<NumberDocument>,
  entries: readonly ReservedNumber[],
): Promise<(Error | null)[]> {
  const outcomes = await insertEach(numbers, entries.map(reservationOf));
  return outcomes.map((outcome, index) => {
    if ('result' in outcome) return null;
    if (!isDuplicateKey(outcome.error)) return outcome.error as Error;
    return new NumberTaken(`serial ${entries[index]?.series.serial} is taken`);
  });
}

/** Takes numbers in a transaction. @throws {NumberTaken} if one of them is taken; the transaction must then end */
export async function reserveAll(
  numbers: Collection<NumberDocument>,
  documents: readonly NumberDocument[],
  session: ClientSession,
): Promise<void> {
  try {
    await insertAll(numbers, documents, session);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new NumberTaken('a number is taken');
  }
}

/**
 * Returns the highest serial of a series that is written to its invoice; 0 if the series is empty.
 *
 * A process that died or lost its claim may have taken a number without writing it to the invoice. That can only be the
 * last number of the series, because the next number is taken only after this function, or the process that took the
 * last number, has found that the last number is written. This function writes such a number to its invoice. If the
 * invoice has another number by now, or was rejected without a number, this number cannot be written any more, and
 * becomes free again.
 */
export async function highestSerial(stores: NumberedInvoices, owner: Owner, name: string): Promise<number> {
  const prefix = seriesPrefix(owner, name);
  for (;;) {
    // `:` is the character after `9`.
    const last = await stores.numbers
      .find({ _id: { $gte: prefix, $lt: `${prefix}:` } })
      .sort({ _id: -1 })
      .limit(1)
      .next();
    if (last === null) return 0;
    const serial = Number(last._id.slice(prefix.length));
    if (await isWritten(stores, last, { name, serial })) return serial;
  }
}

/**
 * Whether the number is written to its invoice, if necessary by this call. If not, the number or its invoice has
 * changed, and the caller must read the last number again.
 */
async function isWritten(
  { invoices, numbers }: NumberedInvoices,
  { _id, invoiceId }: NumberDocument,
  series: SeriesNumber,
): Promise<boolean> {
  const holder = await invoices.findOne({ _id: invoiceId }, { projection: { series: 1, status: 1 } });
  // The invoice was removed, and its number is not given to another one.
  if (holder === null || holder.series?.serial === series.serial) return true;
  if (holder.series || holder.status !== WAITING.status) {
    await numbers.deleteOne({ _id, invoiceId });
    return false;
  }
  const { modifiedCount } = await invoices.updateOne(...numberWrite(invoiceId, series, new Date(0)));
  return modifiedCount === 1;
}

/** The status of invoices that wait for their numbers. An invoice that is rejected meanwhile gets no number. */
const WAITING = { status: 'pending' } as const;

/**
 * Returns the filter and the update that write a number to an invoice that waits for it.
 * @param unsummed when the sweep sums the invoice and writes its search terms, unless an event comes before
 */
export function numberWrite(invoiceId: string, series: SeriesNumber, unsummed: Date) {
  return [
    { _id: invoiceId, ...WAITING, 'series.serial': { $exists: false } } as Filter<InvoiceDocument>,
    { $set: { series, unsummed }, $unset: { awaitsNumber: '' } } as UpdateFilter<InvoiceDocument>,
  ] as const;
}
