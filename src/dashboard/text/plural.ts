import type { Language } from './languages.ts';
import { formatNumber } from './money.ts';

type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/**
 * Makes the text of a whole number from its forms, in which `#` stands for the number.
 * @param forms by the categories of CLDR; a form that is missing is `other`
 */
export function counted(language: Language, forms: Forms): (count: number) => string {
  const rules = new Intl.PluralRules(language);
  return (count) => (forms[rules.select(count)] ?? forms.other).replace('#', formatNumber(count, language));
}
