import { moroccanDate, moroccanYear } from '../morocco/time.ts';
import { completedProfile } from '../tenant/tenant.ts';
import { DOCUMENTS, type DocumentKind } from './documents.ts';
import { SERVICE_SERIES } from './field-input.ts';
import type { Invoice } from './invoice.ts';
import type { LegalInvoice } from './ports.ts';
import type { SeriesNumber } from './series-number.ts';
import { termsOf } from './terms.ts';
import { totalsOfInvoice } from './totals.ts';

/** Returns the year of the number series to which an invoice created at this instant belongs. */
export function seriesYear(createdAt: Date): number {
  return moroccanYear(createdAt);
}

/** Formats a legal number as `2026-000123`. */
export function legalNumber(series: SeriesNumber): string {
  return `${series.year}-${series.serial.toString().padStart(6, '0')}`;
}

/** Parses a legal number of the service's series; null for any other text. */
export function seriesNumberOf(number: string): SeriesNumber | null {
  const [, year, serial] = SERVICE_SERIES.exec(number) ?? [];
  const series = { year: Number(year), serial: Number(serial) };
  return year !== undefined && legalNumber(series) === number ? series : null;
}

/**
 * Returns a document's file name, such as `facture-2026-000123.pdf`. Other characters of a client's own number become
 * `_`.
 */
export function documentFileName(number: string, kind: DocumentKind): string {
  return DOCUMENTS[kind].fileName(number.replaceAll(/[^\w.-]/g, '_'));
}

/**
 * Returns the content of an invoice's legal document with this number. It depends only on the stored invoice, so it is
 * always the same.
 */
export function legalInvoice(invoice: Invoice, number: string): LegalInvoice {
  const totals = totalsOfInvoice(invoice);
  const { seller, specimen } = completedProfile(invoice.seller);
  return {
    id: invoice.id,
    kind: invoice.kind,
    credit: invoice.credit,
    tenantId: invoice.tenantId,
    environment: invoice.environment,
    number,
    issueDate: moroccanDate(invoice.createdAt),
    terms: termsOf({ ...invoice, number }),
    currency: invoice.currency,
    seller,
    specimen,
    customer: invoice.customer,
    lines: invoice.lines,
    totals,
    amount: invoice.amount,
  };
}
