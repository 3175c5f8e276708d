import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { AdjustmentTotal } from '../../domain/invoice/adjustments.ts';
import { html, type Markup } from '../../text/markup.ts';
import { name, type Texts } from './page-parts.ts';

const TEXTS: Readonly<Record<DocumentLanguage, Readonly<Record<'lines' | 'charge', string>>>> = {
  fr: { lines: 'Total des lignes HT', charge: 'Frais' },
  ar: { lines: 'مجموع السطور دون رسوم', charge: 'مصاريف' },
  en: { lines: 'Total of lines excl. VAT', charge: 'Charge' },
};

/**
 * Writes what leads from the lines to the total without tax: their sum, the discount and the charge of the whole
 * document, without tax.
 * @param row writes a label and an amount
 * @returns null for a document without discount and charge
 */
export function adjustmentRows(
  { labels, format, invoice: { totals, seller } }: Texts,
  row: (label: string | Markup, value: number) => Markup,
): Markup | null {
  const { discount, charge, linesNet } = totals;
  if (discount === null && charge === null) return null;
  const texts = TEXTS[seller.documentLanguage];
  const labelOf = (label: string, { percent, reason }: AdjustmentTotal) =>
    html`${label}${percent == null ? null : html` ${format.percent(percent)}`}${reason ? html` (${name(reason)})` : null}`;
  return html`${row(texts.lines, linesNet)}${
    discount && row(labelOf(labels.discount, discount), -discount.net)
  }${charge && row(labelOf(texts.charge, charge), charge.net)}`;
}
