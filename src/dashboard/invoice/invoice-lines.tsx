import { ADJUSTMENT_LABELS } from '../../text/adjustment-labels.ts';
import { useLanguage } from '../interface/language.tsx';
import { formatAmount } from '../text/local-number.ts';
import { formatMoney, formatPercent, formatUnitPrice, quantityIn } from '../text/money.ts';
import type { Invoice } from './documents.ts';

/** Shows the lines of a document. */
export function InvoiceLines({ lines }: { lines: readonly Line[] }) {
  const { language, texts } = useLanguage();
  const { columns } = texts.invoices;
  const money = (centimes: number) => formatAmount(centimes, language);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard
    <section class="card part" aria-labelledby="lines" tabIndex={0}>
      <h2 id="lines">{texts.invoices.lines}</h2>
      <table class="rows stacked">
        <thead>
          <tr>
            {[columns.description, columns.quantity, columns.unitPrice, columns.vat, columns.net].map((name) => (
              <th scope="col" key={name} class={name === columns.description ? undefined : 'end'}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ description, quantity, unit, unitPrice, taxIncluded, discount, taxRate, amount }, i) => (
            <tr key={i}>
              <th scope="row" class="what">
                <bdi>{description}</bdi>
                {discount && <Reduction discount={discount} />}
              </th>
              <td class="sum">
                <bdi>{quantityIn(quantity, unit, language)}</bdi>
              </td>
              <td class="sum">
                <bdi>
                  {formatUnitPrice(unitPrice, language)}
                  {taxIncluded && ` ${texts.creation.taxMark}`}
                </bdi>
              </td>
              <td class="sum">{taxRate}&nbsp;%</td>
              <td class="sum">
                <bdi>{money(amount)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Line = Invoice['lines'][number];

/** Shows the discount of a line below its description. */
function Reduction({ discount: { amount, percent, reason } }: { discount: NonNullable<Line['discount']> }) {
  const { language } = useLanguage();
  const much = percent === null ? formatMoney(amount ?? 0, language) : formatPercent(percent, language);
  return (
    <span class="under">
      {ADJUSTMENT_LABELS[language].discount} <bdi>{much}</bdi> {reason && <bdi>({reason})</bdi>}
    </span>
  );
}
