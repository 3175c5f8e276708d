import { useEffect, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { useFragment } from '../interface/use-fragment.ts';
import { useTitle } from '../interface/use-title.ts';
import { CONNECTING, followInvoice } from '../invoice/follow-invoice.ts';
import { InvoiceSummary } from '../invoice/invoice-summary.tsx';
import { StatusCard } from '../invoice/status-card.tsx';
import { useDocumentTexts } from '../invoice/use-document-texts.ts';
import { useOnline } from '../invoice/use-online.ts';
import { EmbeddedFrame } from './embedded-frame.tsx';

/**
 * `/embed/invoices/<invoice id>/<frame>#<token>`: the live status of an invoice within a page of another product. A new
 * token in the fragment continues the page.
 */
export function EmbeddedInvoice() {
  const { id = '' } = useRoute().params;
  const { texts } = useDocumentTexts(id);
  const token = useFragment();
  const [view, setView] = useState(CONNECTING);
  const online = useOnline();
  useTitle(texts.invoice);
  useEffect(() => {
    setView(CONNECTING);
    return followInvoice(id, token, setView);
  }, [id, token]);
  const { invoice, state } = view;
  if (state === 'refused' || !invoice) {
    return (
      <EmbeddedFrame>
        <p class="card" role="status" aria-busy={state !== 'refused'}>
          {state === 'refused' ? texts.embedding.expired : texts.loading}
        </p>
      </EmbeddedFrame>
    );
  }
  return (
    <EmbeddedFrame>
      {invoice.environment === 'test' && (
        <p class="test-note">
          <strong>{texts.test}</strong> <span>{texts.testUnder}</span>
        </p>
      )}
      {invoice.sellerName && (
        <p class="seller">
          <bdi>{invoice.sellerName}</bdi>
        </p>
      )}
      <div class="invoice">
        <InvoiceSummary invoice={invoice} />
        <StatusCard reader="customer" invoice={invoice} state={state} online={online} />
      </div>
    </EmbeddedFrame>
  );
}
