import { useLanguage } from '../interface/language.tsx';
import { PageFrame } from '../interface/page-frame.tsx';
import { formatAmount } from '../text/money.ts';
import type { Invoice } from './documents.ts';
import type { InvoiceView } from './follow-invoice.ts';
import { InvoiceDetails } from './invoice-details.tsx';
import { InvoiceDocuments } from './invoice-documents.tsx';
import { StatusCard } from './status-card.tsx';

/** A longer formatted amount is set in smaller type, so that it fits on a phone. In characters. */
const LONG_AMOUNT = 13;

interface InvoicePageProps {
  readonly invoice: Invoice;
  readonly state: InvoiceView['state'];
  /** Whether the browser has a network. */
  readonly online: boolean;
}

/** An invoice as its customer sees it: what it is, its status as it changes, its documents. */
export function InvoicePage({ invoice, state, online }: InvoicePageProps) {
  const { language, texts } = useLanguage();
  const { number, environment, customer } = invoice;
  const amount = formatAmount(invoice.amount, language);
  const title = number === null ? texts.invoice : `${texts.invoice} ${number}`;
  return (
    <PageFrame title={title}>
      {environment === 'test' && (
        <p class="test-note">
          <strong>{texts.test}</strong> <span>{texts.testUnder}</span>
        </p>
      )}
      <div class="invoice">
        <section class="summary">
          <h1>
            <span class="kind">{texts.invoice}</span>{' '}
            {number === null ? <em>{texts.numberToCome}</em> : <bdi>{number}</bdi>}
          </h1>
          <p class="amount" data-long={amount.length > LONG_AMOUNT}>
            <bdi>
              {amount} <abbr title="Dirham">{invoice.currency}</abbr>
            </bdi>
          </p>
          <p class="for">
            {texts.total} <span aria-hidden="true">·</span> <bdi>{customer.name}</bdi>
          </p>
        </section>
        <StatusCard invoice={invoice} state={state} online={online} />
        <InvoiceDocuments invoice={invoice} />
        <InvoiceDetails invoice={invoice} />
      </div>
    </PageFrame>
  );
}
