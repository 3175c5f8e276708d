import { quantityText, unitPriceText } from '../domain/decimal.ts';
import type { DocumentLanguage } from '../domain/document-language.ts';
import { type Centimes, decimalOf } from '../domain/money.ts';
import { moroccanClock, moroccanZone } from '../domain/morocco/time.ts';

export const NO_BREAK_SPACE = '\u00a0';
const MINUS = '\u2212';

/** The formats of numbers and dates in a language. All digits are European, as in Morocco. */
export interface Format {
  /** `123456` → `1 234,56`; a true minus sign before negative amounts. */
  amount(centimes: Centimes): string;
  /** `123456` → `1 234,56 MAD`. */
  money(centimes: Centimes, currency: string): string;
  /** `1234.5` → `1 234,5`. @param quantity at most `QUANTITY_PLACES` decimals */
  quantity(quantity: number): string;
  /** `12.5` → `0,125`: a unit price in dirhams with two to four decimals. @param centimes at most `PRICE_PLACES` decimals */
  unitPrice(centimes: number): string;
  /** `"1234.5"` → `1 234,5`: a number as it is written. */
  decimal(written: string): string;
  /** `20` → `20 %`; `2.5` → `2,5 %`. */
  percent(rate: number): string;
  /** `2026-11-21` → `21 novembre 2026`. @param date a calendar date, `YYYY-MM-DD` */
  longDate(date: string): string;
  /** `21 novembre 2026 à 13:05:09 (UTC+0)`, in Morocco's time. */
  moment(at: Date): string;
}

function createFormat(locale: string, thousands: string, decimal: string, beforePercent: string): Format {
  const date = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'long' });
  const dateAndTime = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'long', timeStyle: 'medium' });
  const grouped = (digits: string) => digits.replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
  const local = (number: string) => {
    const [whole = '', fraction] = number.split('.');
    return grouped(whole) + (fraction === undefined ? '' : decimal + fraction);
  };
  const amount = (centimes: Centimes) => `${centimes < 0 ? MINUS : ''}${local(decimalOf(Math.abs(centimes)))}`;
  return {
    amount,
    money: (centimes, currency) => `${amount(centimes)}${NO_BREAK_SPACE}${currency}`,
    quantity: (quantity) => local(quantityText(quantity)),
    unitPrice: (centimes) => local(unitPriceText(centimes)),
    decimal: local,
    percent: (rate) => `${local(String(rate))}${beforePercent}%`,
    longDate: (day) => date.format(new Date(`${day}T00:00:00Z`)),
    moment: (at) => `${dateAndTime.format(moroccanClock(at))} (${moroccanZone(at)})`,
  };
}

/** Moroccan Arabic has its own month names, and formats numbers as Moroccan French does. */
export const FORMATS: Readonly<Record<DocumentLanguage, Format>> = {
  fr: createFormat('fr', NO_BREAK_SPACE, ',', NO_BREAK_SPACE),
  ar: createFormat('ar-MA-u-nu-latn', NO_BREAK_SPACE, ',', NO_BREAK_SPACE),
  en: createFormat('en-GB', ',', '.', ''),
};

/** The writing direction of a language, as a value of the HTML attribute `dir`. */
export function directionOf(language: DocumentLanguage): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}
