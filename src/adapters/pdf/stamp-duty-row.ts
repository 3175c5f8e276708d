import { stampDutyOn } from '../../domain/morocco/stamp-duty.ts';
import type { Markup } from '../../text/markup.ts';
import { STAMP_DUTY_LABELS } from '../../text/stamp-duty-labels.ts';
import type { Texts } from './page-parts.ts';

/**
 * Writes the stamp duty below the amount to pay, which does not contain it: the customer may still pay by other means.
 * Null unless the payment means is cash.
 * @param row writes a label and an amount
 */
export function stampDutyRow(
  { format, invoice }: Texts,
  row: (label: string | Markup, value: number) => Markup,
): Markup | null {
  const duty = stampDutyOn(invoice.issueDate, invoice);
  return duty && row(STAMP_DUTY_LABELS[invoice.seller.documentLanguage](format.percent(duty.percent)), duty.amount);
}
