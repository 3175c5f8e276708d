import { deductedRates } from '../../domain/invoice/deduction.ts';
import { totalsOfRates } from '../../domain/invoice/totals.ts';
import type { Centimes } from '../../domain/money.ts';
import { DEPOSIT_LABELS } from '../../text/deposit-labels.ts';
import { html, type Markup } from '../../text/markup.ts';
import { columnHead, figure, name, type Texts } from './page-parts.ts';

/** Writes a table of the amounts that a final invoice deducts, by deposit and rate; null if it deducts no deposit. */
export function depositTable({ invoice, labels, format }: Texts): Markup | null {
  const deposits = invoice.deduction?.deposits ?? [];
  if (deposits.length === 0) return null;
  const texts = DEPOSIT_LABELS[invoice.seller.documentLanguage];
  const rows = deposits.flatMap(({ invoice: { number, issueDate }, rates }) =>
    rates.map(
      ({ rate, base, tax }) =>
        html`<tr><td class="text">${name(number)}</td><td class="text">${format.longDate(issueDate)}</td>${figure(
          format.percent(rate),
        )}${figure(format.amount(-base))}${figure(format.amount(-tax))}</tr>`,
    ),
  );
  return html`<div class="deposits"><table>
<caption>${texts.deducted}</caption>
<thead><tr>${columnHead(texts.number, 'text')}${columnHead(texts.date, 'text')}${columnHead(labels.rate, 'figure')}${columnHead(labels.base, 'figure')}${columnHead(labels.tax, 'figure')}</tr></thead>
<tbody>${rows}</tbody>
</table></div>`;
}

/**
 * Returns, with their labels, the totals before the deduction, and the deducted amount as a negative number. Empty for
 * an invoice that deducts nothing.
 */
export function saleTotals({ invoice: { deduction, totals, seller } }: Texts): [label: string, value: Centimes][] {
  if (!deduction) return [];
  const texts = DEPOSIT_LABELS[seller.documentLanguage];
  const less = totalsOfRates(deductedRates(deduction.deposits));
  return [
    [texts.saleNet, totals.net + less.net],
    [texts.saleTax, totals.tax + less.tax],
    [texts.saleGross, totals.gross + less.gross],
    [texts.less, -less.gross],
  ];
}
