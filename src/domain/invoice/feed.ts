import type { InvoiceEvent } from './invoice.ts';

/** A stored change of an invoice, made by any process. */
export interface InvoiceNews {
  readonly invoiceId: string;
  readonly events: readonly InvoiceEvent[];
  /** Whether the change stored a document of the accepted invoice. */
  readonly documentStored: boolean;
  /** Whether the invoice can no longer be read, because its tenant is erased. */
  readonly withheld?: boolean;
}

/** Delivers changes from the store, with one change stream per process for any number of listeners. */
export interface InvoiceFeed {
  /**
   * Calls `listener` for each later change of this invoice. After a gap (such as a lost connection) events may repeat
   * but none is missed: listeners compare sequence numbers.
   * @returns a function that ends the subscription
   */
  subscribe(invoiceId: string, listener: (news: InvoiceNews) => void): () => void;
}
