import type { ComponentChild } from 'preact';
import { CREDIT_LABELS } from '../../text/credit-labels.ts';
import { CREDIT_REASON_TEXTS } from '../../text/credit-reasons.ts';
import { CREDITED_LABELS } from '../../text/credited-labels.ts';
import { DEPOSIT_LABELS } from '../../text/deposit-labels.ts';
import { PARTICULAR_LABELS } from '../../text/particular-labels.ts';
import { STAMP_DUTY_LABELS } from '../../text/stamp-duty-labels.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';
import { useLanguage } from '../interface/language.tsx';
import { formatDate, formatDay } from '../text/dates.ts';
import { DEPOSIT_TEXTS } from '../text/deposits.ts';
import { DETAIL_TEXTS } from '../text/details.ts';
import type { Language } from '../text/languages.ts';
import { formatForeign, formatMoney, formatRate } from '../text/money.ts';
import type { Invoice } from './documents.ts';
import { type Sum, Sums, sumsOf, withheldSum } from './sums.tsx';
import { useDocumentTexts } from './use-document-texts.ts';

interface InvoiceDetailsProps {
  readonly invoice: Invoice;
  /** The address of the page of an invoice, for readers who may open it. */
  readonly addressOf?: ((invoiceId: string) => string) | undefined;
}

/**
 * Shows the dates, the customer, the invoice that a credit note corrects and the reason, and the totals, which add up
 * as in the PDF.
 */
export function InvoiceDetails({ invoice, addressOf }: InvoiceDetailsProps) {
  const { language, texts } = useDocumentTexts(invoice.id);
  const { customer, totals, dgiId } = invoice;
  const roundingAmount = invoice.amount - totals.total;
  const facts: readonly (readonly [string, ComponentChild])[] = [
    [texts.customer, customer.name],
    [texts.ice, customer.ice],
    [texts.createdOn, formatDate(invoice.createdAt, language)],
    ...('reason' in invoice
      ? [
          [
            CREDIT_LABELS[language].original,
            <Corrected key="corrected" original={invoice.invoice} addressOf={addressOf} />,
          ] as const,
          [CREDIT_LABELS[language].reason, CREDIT_REASON_TEXTS[invoice.reason][language]] as const,
          [texts.note, invoice.note] as const,
        ]
      : [
          [texts.operationOn, invoice.terms.operationDate && formatDay(invoice.terms.operationDate, language)] as const,
          [texts.dueOn, invoice.terms.dueDate && formatDay(invoice.terms.dueDate, language)] as const,
          ...statedOf(invoice, language),
          [texts.payment, invoice.terms.paymentMode] as const,
          [
            CREDIT_LABELS[language].replaced,
            invoice.replaces?.number ? (
              <Corrected key="replaced" original={invoice.replaces} addressOf={addressOf} />
            ) : null,
          ] as const,
          ...creditedOf(invoice, language),
          [
            DEPOSIT_LABELS[language].less,
            invoice.deposits.length > 0 ? (
              <Deducted key="deducted" deposits={invoice.deposits} addressOf={addressOf} />
            ) : null,
          ] as const,
          [
            DEPOSIT_TEXTS[language].deductedIn,
            invoice.deductedIn ? (
              <Corrected key="deductedIn" original={invoice.deductedIn} addressOf={addressOf} />
            ) : null,
          ] as const,
        ]),
    [texts.dgiId, dgiId],
  ];
  const sums = [
    ...sumsOf(totals, texts, language, 'terms' in invoice ? invoice : {}),
    [texts.total, totals.total] as const,
    ...(roundingAmount === 0 ? [] : [[texts.rounding, roundingAmount] as const]),
    ...payableOf(invoice, language, texts.payable),
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
      <Sums sums={sums} />
    </section>
  );
}

/** Returns the sums that lead to the amount to pay, and the stamp duty of cash, which this amount does not contain. */
function payableOf(invoice: Invoice, language: Language, payable: string): Sum[] {
  if (!('netToPay' in invoice)) return [[payable, invoice.amount]];
  const { amount, totals, withholding, netToPay, stampDuty } = invoice;
  const isRounded = withholding !== null && amount !== totals.total;
  return [
    ...(isRounded ? [[WITHHOLDING_LABELS[language].roundedTotal, amount] as const] : []),
    ...(withholding ? [withheldSum(withholding.percent, withholding.amount, language)] : []),
    [payable, netToPay],
    ...(stampDuty === null ? [] : [[STAMP_DUTY_LABELS[language](null), stampDuty] as const]),
  ];
}

type InvoiceOnly = Extract<Invoice, { readonly terms: unknown }>;

/** Returns the details that few invoices state. */
function statedOf({ references, servicePeriod, foreignValue, withholding }: InvoiceOnly, language: Language) {
  const { order, contract, servicePeriod: period, to, rateOf } = PARTICULAR_LABELS[language];
  const days = servicePeriod && [servicePeriod.from, servicePeriod.to].map((day) => formatDay(day, language));
  const facts: (readonly [string, ComponentChild])[] = [
    [order, references?.order ?? null],
    [contract, references?.contract ?? null],
    [period, days?.join(` ${to} `) ?? null],
  ];
  if (withholding?.certificate) {
    const { number, date } = withholding.certificate;
    facts.push([WITHHOLDING_LABELS[language].certificate, `${number} (${formatDay(date, language)})`]);
  }
  if (foreignValue) {
    const { currency, amount, rate, rateDate } = foreignValue;
    const what = (
      <>
        <bdi>{formatForeign(amount, currency, language)}</bdi> (
        <bdi dir="ltr">{formatRate(rate, currency, language)}</bdi>
        {rateOf} {formatDay(rateDate, language)})
      </>
    );
    facts.push([DETAIL_TEXTS[language].foreignValue, what]);
  }
  return facts;
}

/** States the amount of an invoice that accepted credit notes credit, as its verification page does. */
function creditedOf({ acceptedCredit: credit, amount }: InvoiceOnly, language: Language) {
  if (credit === null) return [];
  const label = CREDITED_LABELS[language][credit.amount === amount ? 'inWhole' : 'inPart'];
  const what = (
    <>
      <bdi>{formatMoney(credit.amount, language)}</bdi> ({formatDay(credit.lastDate, language)})
    </>
  );
  return [[label, what] as const];
}

interface DeductedProps extends Pick<InvoiceDetailsProps, 'addressOf'> {
  readonly deposits: InvoiceOnly['deposits'];
}

/** Lists the deposits that an invoice deducts, with the deducted amount of each. */
function Deducted({ deposits, addressOf }: DeductedProps) {
  const { language } = useLanguage();
  return (
    <ul class="deducted">
      {deposits.map((deposit) => (
        <li key={deposit.id}>
          <Corrected original={deposit} addressOf={addressOf} /> <bdi>{formatMoney(deposit.amount, language)}</bdi>
        </li>
      ))}
    </ul>
  );
}

interface CorrectedProps extends Pick<InvoiceDetailsProps, 'addressOf'> {
  readonly original: { readonly id: string | null; readonly number: string | null };
}

/** Shows the number of another invoice, with a link if it is an invoice of this service. */
function Corrected({ original: { id, number }, addressOf }: CorrectedProps) {
  const shown = <bdi>{number}</bdi>;
  return id !== null && addressOf ? <a href={addressOf(id)}>{shown}</a> : shown;
}
