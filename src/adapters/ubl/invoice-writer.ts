import { Piscina } from 'piscina';
import { InvalidDocument, type InvoiceWriter, type LegalInvoice } from '../../domain/invoice/ports.ts';
import type { Written } from './writer-thread.ts';

/**
 * Writes, checks and digests UBL 2.1 Invoices on a thread of its own, because 1,000 lines take longer than the event loop may be held.
 * The thread is started at once and kept warm; it does not keep the process alive when nothing is under way.
 */
export function createInvoiceWriter(): InvoiceWriter & { close(): Promise<void> } {
  const threads = new Piscina<LegalInvoice, Written>({
    filename: new URL('./writer-thread.ts', import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
  });
  return {
    async write(invoice) {
      const written = await threads.run(invoice);
      if ('invalid' in written) throw new InvalidDocument(written.invalid);
      return written;
    },
    close: () => threads.destroy(),
  };
}
