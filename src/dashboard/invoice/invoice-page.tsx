import { useLanguage } from '../interface/language.tsx';
import { PageFrame } from '../interface/page-frame.tsx';
import type { Invoice } from './documents.ts';
import type { InvoiceView } from './follow-invoice.ts';
import { InvoiceDetails } from './invoice-details.tsx';
import { InvoiceDocuments } from './invoice-documents.tsx';
import { InvoiceSummary } from './invoice-summary.tsx';
import { StatusCard } from './status-card.tsx';

interface InvoicePageProps {
  readonly invoice: Invoice;
  readonly state: InvoiceView['state'];
  /** Whether the browser has a network. */
  readonly online: boolean;
}

/** An invoice as its customer sees it: what it is, its status as it changes, its documents. */
export function InvoicePage({ invoice, state, online }: InvoicePageProps) {
  const { texts } = useLanguage();
  const { number, environment } = invoice;
  const title = number === null ? texts.invoice : `${texts.invoice} ${number}`;
  return (
    <PageFrame title={title}>
      {environment === 'test' && (
        <p class="test-note">
          <strong>{texts.test}</strong> <span>{texts.testUnder}</span>
        </p>
      )}
      <div class="invoice">
        <InvoiceSummary invoice={invoice} />
        <StatusCard invoice={invoice} state={state} online={online} />
        <InvoiceDocuments invoice={invoice} />
        <InvoiceDetails invoice={invoice} />
      </div>
    </PageFrame>
  );
}
