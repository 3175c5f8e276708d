import type { PeriodPlace } from '../../domain/invoice/periods/period-name.ts';
import { type Language, LOCALES } from '../text/languages.ts';
import { PERIOD_TEXTS } from '../text/periods.ts';

/** Names a period for people: `novembre 2026`, `4e trimestre 2026`, `2026`. */
export function formatPeriod({ length, year, month }: PeriodPlace, language: Language): string {
  if (length === 'year') return String(year);
  if (length === 'quarter') return PERIOD_TEXTS[language].quarter(Math.ceil(month / 3), year);
  const format = new Intl.DateTimeFormat(LOCALES[language], { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(Date.UTC(year, month - 1, 1)));
}
