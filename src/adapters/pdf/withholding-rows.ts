import { statedWithholding } from '../../domain/invoice/withholding.ts';
import { netToPay } from '../../domain/net-to-pay.ts';
import { html, type Markup } from '../../text/markup.ts';
import { WITHHOLDING_LABELS } from '../../text/withholding-labels.ts';
import { name, type Texts } from './page-parts.ts';

/**
 * Writes the rows between the total with tax and the amount that the buyer pays: the rounded total, the withheld VAT
 * and the payable amount.
 * @param row writes a label, an amount and a kind of row
 */
export function payableRows(
  { labels, format, invoice }: Texts,
  row: (label: string | Markup, value: number, kind?: string) => Markup,
): Markup {
  const stated = statedWithholding(invoice);
  const texts = WITHHOLDING_LABELS[invoice.seller.documentLanguage];
  const rounded = stated && invoice.amount !== invoice.totals.gross && row(texts.roundedTotal, invoice.amount);
  const withheld = stated && row(html`${texts.withheld} (${format.percent(stated.percent)})`, -stated.amount);
  return html`${rounded || null}${withheld}
${row(labels.payable, netToPay(invoice), 'payable')}`;
}

/** Writes the seller's certificate of tax regularity below the totals; null if none is stated. */
export function taxCertificate({ format, invoice }: Texts): Markup | null {
  const certificate = invoice.withholding?.certificate ?? null;
  if (certificate === null) return null;
  const { certificate: label } = WITHHOLDING_LABELS[invoice.seller.documentLanguage];
  return html`<p class="note"><span class="label">${label}</span> ${name(certificate.number)} (${format.longDate(certificate.date)})</p>`;
}

/**
 * Returns the label of the amount in words. The amount is the total, so the label says so if the payable amount
 * differs.
 */
export function inWords({ labels, invoice: { withholding, seller } }: Texts): string {
  return withholding === null ? labels.inWords : WITHHOLDING_LABELS[seller.documentLanguage].totalInWords;
}
