import type { AdjustmentTotal } from '../../domain/invoice/adjustments.ts';
import { ADJUSTMENT_LABELS } from '../../text/adjustment-labels.ts';
import { html, type Markup } from '../../text/markup.ts';
import { name, type Texts } from './page-parts.ts';

/**
 * Writes the rows between the lines and the total without tax: the sum of the lines, the discount and the charge of the
 * whole document, all without tax.
 * @param row writes a label and an amount
 * @returns null for a document without discount and charge
 */
export function adjustmentRows(
  { format, invoice: { totals, seller } }: Texts,
  row: (label: string | Markup, value: number) => Markup,
): Markup | null {
  const { discount, charge, linesNet } = totals;
  if (discount === null && charge === null) return null;
  const labels = ADJUSTMENT_LABELS[seller.documentLanguage];
  const labelOf = (label: string, { percent, reason }: AdjustmentTotal) =>
    html`${label}${percent == null ? null : html` ${format.percent(percent)}`}${reason ? html` (${name(reason)})` : null}`;
  return html`${row(labels.lines, linesNet)}${
    discount && row(labelOf(labels.discount, discount), -discount.net)
  }${charge && row(labelOf(labels.charge, charge), charge.net)}`;
}
