import type { DocumentLanguage } from '../../domain/document-language.ts';
import { stampDutyOn } from '../../domain/morocco/stamp-duty.ts';
import type { Markup } from '../../text/markup.ts';
import type { Texts } from './page-parts.ts';

const LABELS: Readonly<Record<DocumentLanguage, (percent: string) => string>> = {
  fr: (percent) => `Droit de timbre (${percent}) si réglé en espèces`,
  ar: (percent) => `رسم التنبر (${percent}) إذا تم الأداء نقدا`,
  en: (percent) => `Stamp duty (${percent}) if paid in cash`,
};

/**
 * Writes the stamp duty below what is to be paid, which does not contain it: the customer may still pay otherwise. Null
 * unless cash is the payment means.
 * @param row writes a label and an amount
 */
export function stampDutyRow(
  { format, invoice }: Texts,
  row: (label: string | Markup, value: number) => Markup,
): Markup | null {
  const duty = stampDutyOn(invoice.issueDate, invoice);
  return duty && row(LABELS[invoice.seller.documentLanguage](format.percent(duty.percent)), duty.amount);
}
