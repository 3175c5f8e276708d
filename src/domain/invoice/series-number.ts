import type { Invoice } from './invoice.ts';

/** A number of a legal series. There is a series for each tenant, environment and year (Africa/Casablanca). */
export interface SeriesNumber {
  readonly year: number;
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
