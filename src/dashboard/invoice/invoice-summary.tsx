import { DEPOSIT_LABELS } from '../../text/deposit-labels.ts';
import { formatAmount } from '../text/local-number.ts';
import type { Invoice } from './documents.ts';
import { useDocumentTexts } from './use-document-texts.ts';

/** Length in characters from which a formatted amount is set in smaller type, so that it fits on a phone. */
const LONG_AMOUNT = 13;

/** Shows the number, the amount and the customer. */
export function InvoiceSummary({ invoice }: { invoice: Invoice }) {
  const { language, texts } = useDocumentTexts(invoice.id);
  const { number, customer, currency } = invoice;
  const amount = formatAmount('netToPay' in invoice ? invoice.netToPay : invoice.amount, language);
  return (
    <section class="summary">
      <h1>
        <span class="kind">
          {'terms' in invoice && invoice.isDeposit ? DEPOSIT_LABELS[language].title : texts.invoice}
        </span>{' '}
        {number === null ? <em>{texts.numberToCome}</em> : <bdi>{number}</bdi>}
      </h1>
      <p class="amount" data-long={amount.length > LONG_AMOUNT}>
        <bdi>
          {amount} <abbr title="Dirham">{currency}</abbr>
        </bdi>
      </p>
      <p class="for">
        {texts.payable} <span aria-hidden="true">·</span> <bdi>{customer.name}</bdi>
      </p>
    </section>
  );
}
