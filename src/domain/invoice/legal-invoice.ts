import { moroccanDate } from '../calendar-date.ts';
import { completedProfile } from '../tenant/tenant.ts';
import { SERVICE_SERIES } from './field-input.ts';
import type { Invoice } from './invoice.ts';
import type { LegalInvoice } from './ports.ts';
import type { SeriesNumber } from './repository.ts';
import { termsOf } from './terms.ts';
import { totalsOf } from './totals.ts';

/** The year of the number series that an invoice created at this instant belongs to. */
export function seriesYear(createdAt: Date): number {
  return Number(moroccanDate(createdAt).slice(0, 4));
}

/** `2026-000123`. */
export function legalNumber(series: SeriesNumber): string {
  return `${series.year}-${series.serial.toString().padStart(6, '0')}`;
}

/** The place in the service's series that a legal number states; null for any other text. */
export function seriesNumberOf(number: string): SeriesNumber | null {
  const [, year, serial] = SERVICE_SERIES.exec(number) ?? [];
  const series = { year: Number(year), serial: Number(serial) };
  return year !== undefined && legalNumber(series) === number ? series : null;
}

/** A document's file name, whatever characters a number of the client's own series has: `facture-2026-000123.pdf`. */
export function documentFileName(number: string, kind: 'xml' | 'pdf'): string {
  return `facture-${number.replaceAll(/[^\w.-]/g, '_')}.${kind}`;
}

/** What the legal document of an invoice states under a number; a function of the stored invoice, so the same at any time. */
export function legalInvoice(invoice: Invoice, number: string): LegalInvoice {
  const totals = totalsOf(invoice.lines);
  if (!totals) throw new Error(`invoice ${invoice.id} has totals beyond the limit, which creation refuses`);
  const { seller, specimen } = completedProfile(invoice.seller);
  return {
    id: invoice.id,
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
