import { formatDate, formatDay } from '../text/dates.ts';
import { formatAmount } from '../text/money.ts';
import type { Invoice } from './documents.ts';
import { useDocumentTexts } from './use-document-texts.ts';

/** Shows the dates, the customer and the totals, which add up as those of the PDF do. Nobody pays a credit note. */
export function InvoiceDetails({ invoice }: { invoice: Invoice }) {
  const { language, kind, texts } = useDocumentTexts(invoice.id);
  const { customer, terms, totals, roundingAmount, dgiId } = invoice;
  const money = (centimes: number) => formatAmount(centimes, language);
  const facts: readonly (readonly [string, string | null])[] = [
    [texts.customer, customer.name],
    [texts.ice, customer.ice],
    [texts.createdOn, formatDate(invoice.createdAt, language)],
    [texts.operationOn, terms.operationDate && formatDay(terms.operationDate, language)],
    ...(kind === 'credit_note'
      ? []
      : [
          [texts.dueOn, terms.dueDate && formatDay(terms.dueDate, language)] as const,
          [texts.payment, terms.paymentMode] as const,
        ]),
    [texts.dgiId, dgiId],
  ];
  const sums: readonly (readonly [string, number])[] = [
    [texts.subtotal, totals.subtotal],
    ...totals.taxTotals.map(({ rate, tax }) => [texts.vat(rate), tax] as const),
    [texts.total, totals.total],
    ...(roundingAmount === 0 ? [] : [[texts.rounding, roundingAmount] as const]),
    [texts.payable, invoice.amount],
  ];
  return (
    <section class="card details" aria-labelledby="details">
      <h2 id="details">{texts.details}</h2>
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <bdi>{value}</bdi>
                </dd>
              </div>
            ),
        )}
      </dl>
      <dl class="sums">
        {sums.map(([name, centimes]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{money(centimes)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
