import type { DocumentLanguage } from '../domain/document-language.ts';

/** What the PDF and the pages call the stamp duty of an invoice. @param percent as it is written; null: left out */
export const STAMP_DUTY_LABELS: Readonly<Record<DocumentLanguage, (percent: string | null) => string>> = {
  fr: (percent) => `Droit de timbre${inBrackets(percent)} si réglé en espèces`,
  ar: (percent) => `رسم التنبر${inBrackets(percent)} إذا تم الأداء نقدا`,
  en: (percent) => `Stamp duty${inBrackets(percent)} if paid in cash`,
};

function inBrackets(percent: string | null): string {
  return percent === null ? '' : ` (${percent})`;
}
