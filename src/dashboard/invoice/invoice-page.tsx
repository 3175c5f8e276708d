import { PageFrame } from '../interface/page-frame.tsx';
import { InvoiceBody, type InvoiceBodyProps } from './invoice-body.tsx';
import { InvoiceLines } from './invoice-lines.tsx';
import { useDocumentTexts } from './use-document-texts.ts';

/** Shows an invoice as its customer sees it. */
export function InvoicePage({ invoice, state, online }: Omit<InvoiceBodyProps, 'reader'>) {
  const { texts } = useDocumentTexts(invoice.id);
  const { number, environment } = invoice;
  const title = number === null ? texts.invoice : `${texts.invoice} ${number}`;
  return (
    <PageFrame title={title}>
      {environment === 'test' && (
        <p class="test-note">
          <strong>{texts.test}</strong> <span>{texts.testUnder}</span>
        </p>
      )}
      {invoice.sellerName && (
        <p class="seller">
          <bdi>{invoice.sellerName}</bdi>
        </p>
      )}
      <InvoiceBody invoice={invoice} state={state} online={online} reader="customer" />
      <InvoiceLines lines={invoice.lines} />
    </PageFrame>
  );
}
