import { useEffect, useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { Notice } from '../interface/notice.tsx';
import { PageFrame } from '../interface/page-frame.tsx';
import { useFragment } from '../interface/use-fragment.ts';
import { CONNECTING, followInvoice } from './follow-invoice.ts';
import { InvoicePage } from './invoice-page.tsx';
import { useDocumentTexts } from './use-document-texts.ts';
import { useOnline } from './use-online.ts';

/**
 * `/i/<invoice id>#<client_secret>`: an invoice for its customer, without an account. The secret stays in the fragment,
 * which browsers do not send, and in the header `Authorization`.
 */
export function InvoiceRoute() {
  const { id = '' } = useRoute().params;
  const { texts } = useDocumentTexts(id);
  const secret = useFragment();
  const [view, setView] = useState(CONNECTING);
  const online = useOnline();
  useEffect(() => {
    setView(CONNECTING);
    return followInvoice(id, secret, setView);
  }, [id, secret]);
  if (view.state === 'refused') return <Notice title={texts.refused} text={texts.refusedUnder} />;
  if (view.invoice) return <InvoicePage invoice={view.invoice} state={view.state} online={online} />;
  const waits = !online ? texts.offline : view.state === 'lost' ? texts.lost : texts.loading;
  return (
    <PageFrame title={texts.invoice}>
      <section class="card notice" role="status" aria-busy="true">
        <p>{waits}</p>
      </section>
    </PageFrame>
  );
}
