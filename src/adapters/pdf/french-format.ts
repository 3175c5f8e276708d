import { type Centimes, decimalOf } from '../../domain/money.ts';

/** Between groups of three digits. */
export const NARROW_SPACE = '\u202f';
export const NO_BREAK_SPACE = '\u00a0';

/** `123456` → `1 234,56`, with narrow no-break spaces; a true minus sign before negative amounts. */
export function amount(centimes: Centimes): string {
  const [whole = '', fraction] = decimalOf(Math.abs(centimes)).split('.');
  return `${centimes < 0 ? '\u2212' : ''}${grouped(whole)},${fraction}`;
}

/** `123456` → `1 234,56 MAD`. */
export function money(centimes: Centimes, currency: string): string {
  return `${amount(centimes)}${NO_BREAK_SPACE}${currency}`;
}

/** `1234` → `1 234`; the number is a whole one. */
export function quantity(count: number): string {
  return grouped(String(count));
}

/** `20` → `20 %`. */
export function percent(rate: number): string {
  return `${rate}${NARROW_SPACE}%`;
}

function grouped(digits: string): string {
  return digits.replaceAll(/\B(?=(?:\d{3})+$)/g, NARROW_SPACE);
}

const DATE = new Intl.DateTimeFormat('fr', { timeZone: 'UTC', dateStyle: 'long' });

/** `2026-11-21` → `21 novembre 2026`. @param date a calendar date, `YYYY-MM-DD` */
export function longDate(date: string): string {
  return DATE.format(new Date(`${date}T00:00:00Z`));
}

const MOMENT = new Intl.DateTimeFormat('fr', { timeZone: 'Africa/Casablanca', dateStyle: 'long', timeStyle: 'medium' });

/** `21 novembre 2026 à 13:05:09`, the time of Casablanca. */
export function moment(at: Date): string {
  return MOMENT.format(at);
}
