import { useLanguage } from '../interface/language.tsx';
import { CREDITING_TEXTS } from '../text/crediting.ts';
import { formatAmount } from '../text/local-number.ts';
import { FaultMessage } from './credit-fields.tsx';
import type { Previewed } from './use-preview.ts';

interface PreviewTableProps {
  /** Null before the first answer. */
  readonly previewed: Previewed | null;
  /** Whether it is the answer for the form as it is. */
  readonly isCurrent: boolean;
  readonly isEmpty: boolean;
}

/** Shows what the credit note will credit, by rate of VAT and in all. */
export function PreviewTable({ previewed, isCurrent, isEmpty }: PreviewTableProps) {
  const { language, texts } = useLanguage();
  const { preview: title, rate: rateName, nothing, faulty } = CREDITING_TEXTS[language];
  const { columns } = texts.invoices;
  const money = (centimes: number) => formatAmount(centimes, language);
  const preview = previewed?.preview;
  const [fault] = preview?.problems ?? [];
  const hasFieldFaults = previewed !== null && previewed.faults.size > 0;
  return (
    <section class="preview" aria-labelledby="preview" aria-busy={!isCurrent}>
      <h2 id="preview">{title}</h2>
      {preview && preview.amount !== null && (
        <table class="rows">
          <thead>
            <tr>
              {[rateName, columns.net, columns.vat].map((name) => (
                <th scope="col" key={name} class={name === rateName ? undefined : 'end'}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.taxTotals.map(({ rate, base, tax }) => (
              <tr key={rate}>
                <th scope="row">
                  <bdi>{rate}&nbsp;%</bdi>
                </th>
                <td class="sum">
                  <bdi>{money(base)}</bdi>
                </td>
                <td class="sum">
                  <bdi>{money(tax)}</bdi>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p class="total" role="status">
        {preview && preview.amount !== null && (
          <>
            {texts.total}{' '}
            <bdi>
              <strong>{money(preview.amount)}</strong> MAD
            </bdi>
          </>
        )}
        {fault && isEmpty && nothing}
        {fault && !isEmpty && hasFieldFaults && faulty}
        {fault && !isEmpty && !hasFieldFaults && <FaultMessage fault={fault} />}
      </p>
    </section>
  );
}
