import type { ClientSecrets } from '../../src/domain/invoice/client-secret.ts';
import { createCreateInvoice } from '../../src/domain/invoice/create-invoice.ts';
import type { InvoiceIds } from '../../src/domain/invoice/invoice-ids.ts';
import { createIssuing, type LogWarnings, type MissingForIssue } from '../../src/domain/invoice/issuing.ts';
import type { InvoiceCreation, InvoiceReading, StageQueue } from '../../src/domain/invoice/repository.ts';
import type { InvoiceWarnings } from '../../src/domain/invoice/unprintable-warnings.ts';
import type { Tracing } from '../../src/domain/tracing.ts';

/** The creation of invoices with these parts. */
export function creationOf(
  invoices: InvoiceCreation & Pick<InvoiceReading, 'findByOwnNumber'>,
  queue: StageQueue,
  ids: InvoiceIds,
  clientSecrets: ClientSecrets,
  invoiceWarnings: InvoiceWarnings,
  logWarnings: LogWarnings,
  tracing?: Tracing,
  missingForIssue?: MissingForIssue,
) {
  const issuing = createIssuing(invoices, queue, clientSecrets, invoiceWarnings, logWarnings, missingForIssue);
  return createCreateInvoice(invoices, ids, issuing, tracing);
}
