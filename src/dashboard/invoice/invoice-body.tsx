import type { Invoice } from './documents.ts';
import type { InvoiceView } from './follow-invoice.ts';
import { InvoiceDetails } from './invoice-details.tsx';
import { InvoiceDocuments } from './invoice-documents.tsx';
import { InvoiceSummary } from './invoice-summary.tsx';
import { type Reader, StatusCard } from './status-card.tsx';

export interface InvoiceBodyProps {
  readonly invoice: Invoice;
  readonly state: InvoiceView['state'];
  /** Whether the browser has a network. */
  readonly online: boolean;
  readonly reader: Reader;
  /** The address of the page of an invoice, for readers who may open it. */
  readonly addressOf?: (invoiceId: string) => string;
}

/** Shows an invoice, its status as it changes, and its documents, for its customer and its tenant's people. */
export function InvoiceBody({ invoice, state, online, reader, addressOf }: InvoiceBodyProps) {
  return (
    <div class="invoice">
      <InvoiceSummary invoice={invoice} />
      <StatusCard invoice={invoice} state={state} online={online} reader={reader} />
      <InvoiceDocuments invoice={invoice} />
      <InvoiceDetails invoice={invoice} addressOf={addressOf} />
    </div>
  );
}
