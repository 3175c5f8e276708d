import { moroccanYear } from '../morocco/time.ts';
import type { Invoice } from './invoice.ts';
import { KINDS, SERVICE_SERIES } from './kinds.ts';

/** A number of a legal series. There is a series for each tenant, environment, kind and year (Africa/Casablanca). */
export interface SeriesNumber {
  /** Of the tenant's series: `2026` for invoices, `AV-2026` for credit notes. */
  readonly name: string;
  /** 1, 2, 3… without gaps. */
  readonly serial: number;
}

/** The place of an invoice in its owner's list. */
export interface InvoicePlace {
  readonly order: string;
  /** An order key that is not below that of any invoice created earlier; null if unknown. */
  readonly after: string | null;
}

/** An invoice of a series that has no number yet. */
export interface AwaitingNumber {
  readonly invoiceId: string;
  readonly order: string;
}

/** A number of the service's series that is assigned to an invoice, which need not be claimed. */
export interface ReservedNumber {
  readonly invoice: Pick<Invoice, 'id' | 'tenantId' | 'environment'>;
  readonly series: SeriesNumber;
}

/** Returns the name of the number series to which an invoice or a credit note belongs. */
export function seriesOf({ kind, createdAt }: Pick<Invoice, 'kind' | 'createdAt'>): string {
  return `${KINDS[kind].seriesPrefix}${moroccanYear(createdAt)}`;
}

/** Returns the year in the name of a series. */
export function yearOfSeries(name: string): number {
  return Number(name.slice(-4));
}

/** Compares by the series: newest year first, and invoices, whose series have no prefix, before credit notes. */
export function newestSeriesFirst(a: SeriesNumber, b: SeriesNumber): number {
  return yearOfSeries(b.name) - yearOfSeries(a.name) || a.name.length - b.name.length;
}

/** Formats a legal number as `2026-000123` or `AV-2026-000123`. */
export function legalNumber({ name, serial }: SeriesNumber): string {
  return `${name}-${serial.toString().padStart(6, '0')}`;
}

/** Parses a legal number of the service's series; null for any other text. */
export function seriesNumberOf(number: string): SeriesNumber | null {
  const [, name, serial] = SERVICE_SERIES.exec(number) ?? [];
  if (name === undefined) return null;
  const series = { name, serial: Number(serial) };
  return legalNumber(series) === number ? series : null;
}
