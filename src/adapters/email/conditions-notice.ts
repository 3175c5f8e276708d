import type { Condition } from '../../domain/conditions/condition.ts';
import { CONDITIONS, countText } from '../../domain/conditions/condition-table.ts';
import type { ConditionsNotice } from '../../domain/conditions/tell-owners.ts';
import type { DocumentLanguage } from '../../domain/document-language.ts';
import { FORMATS } from '../../text/document-format.ts';
import { headerText, oneLine } from './header-text.ts';
import { composeServiceMail } from './service-mail.ts';

const GREETINGS: Readonly<Record<DocumentLanguage, { readonly hello: string; readonly since: string }>> = {
  fr: { hello: 'Bonjour,\n\nVoici ce qui demande votre attention dans Fatoura :', since: 'depuis le' },
  ar: { hello: 'مرحبا،\n\nهذا ما يحتاج إلى انتباهكم في فاتورة:', since: 'منذ' },
  en: { hello: 'Hello,\n\nThis needs your attention in Fatoura:', since: 'since' },
};
const ORDER = ['fr', 'ar', 'en'] as const;

/**
 * Composes the mail that tells an owner what is wrong, in three languages.
 * @param from an ASCII address
 * @param to normalized by `mailAddress`
 */
export function composeConditions(notice: ConditionsNotice, from: string, to: string): Promise<Buffer> {
  const { tenantId, tenantName, conditions, at } = notice;
  return composeServiceMail({
    from,
    to,
    subject: `À surveiller / needs attention: ${headerText(tenantName)} (${conditions.length})`,
    id: `${tenantId}.${at.getTime()}`,
    headers: { 'X-Tenant-Id': tenantId },
    text: ORDER.map((language) => partOf(conditions, language)).join('\n--\n\n'),
  });
}

function partOf(conditions: readonly Condition[], language: DocumentLanguage): string {
  const { hello, since: sinceText } = GREETINGS[language];
  const items = conditions.map((condition) => {
    const { code, since, subjects } = condition;
    const { says, advice } = CONDITIONS[code];
    const count = subjects.length > 0 ? ` : ${countText(condition)}` : '';
    const when = since ? ` (${sinceText} ${FORMATS[language].moment(since)})` : '';
    const names = subjects.map(({ id, name }) => oneLine(name ?? id)).join(', ');
    return `- ${says[language]}${count}${when}\n${names && `  ${names}\n`}  ${advice[language]}`;
  });
  return `${hello}\n\n${items.join('\n\n')}\n`;
}
