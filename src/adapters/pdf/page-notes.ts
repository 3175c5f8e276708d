import { foreignAmountText } from '../../domain/currencies.ts';
import { rateText } from '../../domain/decimal.ts';
import { leavesReasonToProfile } from '../../domain/morocco/exemptions.ts';
import { html, type Markup } from '../../text/markup.ts';
import { PARTICULAR_LABELS } from '../../text/particular-labels.ts';
import { figures, name, type Texts } from './page-parts.ts';

/** Writes the reason of the seller's profile, unless each line at 0 % has its own. */
export function exemption({ labels, invoice: { seller, lines } }: Texts): Markup | null {
  if (seller.exemptionReason === null || !lines.some(leavesReasonToProfile)) return null;
  return html`<p class="note"><span class="label">${labels.exemption}</span> ${name(seller.exemptionReason)}</p>`;
}

/** Writes the amount in another currency below the totals; null if there is none. */
export function foreignValue({ format, invoice }: Texts): Markup | null {
  if (invoice.foreignValue === null) return null;
  const { currency, amount, rate, rateDate } = invoice.foreignValue;
  const labels = PARTICULAR_LABELS[invoice.seller.documentLanguage];
  const value = `${format.decimal(foreignAmountText(amount, currency))}\u00a0${currency}`;
  const unit = `1\u00a0${currency} = ${format.decimal(rateText(rate))}\u00a0${invoice.currency}`;
  return html`<p class="note"><span class="label">${labels.foreignValue}</span> <strong>${figures(value)}</strong> (${figures(unit)}${labels.rateOf} ${format.longDate(rateDate)})</p>`;
}
