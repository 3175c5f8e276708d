import { InvalidDocument, type InvoiceWriter, type LegalInvoice } from '../../domain/invoice/ports.ts';
import { createThreads, type OnFatal } from '../threads.ts';
import type { Written } from './writer-thread.ts';

/**
 * Writes, checks and digests UBL 2.1 Invoices on a worker thread, because 1,000 lines would block the event loop for
 * too long. While idle the thread does not keep the process alive.
 */
export function createInvoiceWriter(onFatal?: OnFatal): InvoiceWriter & { close(): Promise<void> } {
  const threads = createThreads<LegalInvoice, Written>(
    { filename: new URL('./writer-thread.ts', import.meta.url).href },
    onFatal,
  );
  return {
    async write(invoice) {
      const written = await threads.run(invoice);
      if ('invalid' in written) throw new InvalidDocument(written.invalid);
      return written;
    },
    close: threads.close,
  };
}
