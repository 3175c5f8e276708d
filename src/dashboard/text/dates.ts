import { type Language, LOCALES } from './languages.ts';
import { moroccanClock, moroccanDate, moroccanZone } from './moroccan-time.ts';

/** Formats a day: `2026-11-23` → `23 novembre 2026`. @param day a calendar date, `YYYY-MM-DD` */
export function formatDay(day: string, language: Language): string {
  return new Intl.DateTimeFormat(LOCALES[language], { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(`${day}T00:00:00Z`),
  );
}

/** Formats the day of an instant in Morocco: `23 novembre 2026`. @param instant ISO 8601 */
export function formatDate(instant: string, language: Language): string {
  return formatDay(moroccanDate(new Date(instant)), language);
}

/**
 * Formats an instant in Morocco's time for a table: `23 nov., 14:05:09`. Only for data that is kept for less than a
 * year.
 * @param instant ISO 8601
 */
export function formatShortMoment(instant: string, language: Language): string {
  const time = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  return new Intl.DateTimeFormat(LOCALES[language], { ...time, timeZone: 'UTC' }).format(
    moroccanClock(new Date(instant)),
  );
}

/** Formats a minute in Morocco's time: `23 nov. 2026, 14:05`. @param instant ISO 8601 */
export function formatMinute(instant: string, language: Language): string {
  const shown = { dateStyle: 'medium', timeStyle: 'short' } as const;
  return new Intl.DateTimeFormat(LOCALES[language], { ...shown, timeZone: 'UTC' }).format(
    moroccanClock(new Date(instant)),
  );
}

/** Formats an instant in Morocco's time: `23 nov. 2026, 14:05:09 (UTC+0)`. @param instant ISO 8601 */
export function formatMoment(instant: string, language: Language): string {
  const at = new Date(instant);
  const format = new Intl.DateTimeFormat(LOCALES[language], {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZone: 'UTC',
  });
  return `${format.format(moroccanClock(at))} (${moroccanZone(at)})`;
}
