import { type Language, LOCALES } from './languages.ts';

/** `2026-11-23` → `23 novembre 2026`. @param day a calendar date, `YYYY-MM-DD` */
export function formatDay(day: string, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );
}

/** The day of an instant in Morocco: `23 novembre 2026`. @param instant ISO 8601 */
export function formatDate(instant: string, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeZone: 'Africa/Casablanca' }).format(
    new Date(instant),
  );
}

/** An instant in Morocco's time: `23 nov., 14:05:09`. @param instant ISO 8601 */
export function formatMoment(instant: string, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: 'Africa/Casablanca',
  }).format(new Date(instant));
}
