import type { Language } from './languages.ts';

interface AmountTexts {
  /** The days of a month up to this one. @param month `novembre 2026` */
  readonly daysOf: (month: string, day: number) => string;
  readonly rejected: string;
  /** What changed since the last look, or since yesterday. */
  readonly since: (moment: string) => string;
  readonly sinceYesterday: string;
}

/** The texts of the amounts on the home page. The other ones are those of a period. */
export const AMOUNT_TEXTS: Readonly<Record<Language, AmountTexts>> = {
  fr: {
    daysOf: (month, day) => (day === 1 ? `1er ${month}` : `1er au ${day} ${month}`),
    rejected: 'Rejetés',
    since: (moment) => `Depuis le ${moment}`,
    sinceYesterday: 'Depuis hier',
  },
  en: {
    daysOf: (month, day) => (day === 1 ? `1 ${month}` : `1 to ${day} ${month}`),
    rejected: 'Rejected',
    since: (moment) => `Since ${moment}`,
    sinceYesterday: 'Since yesterday',
  },
  ar: {
    daysOf: (month, day) => (day === 1 ? `فاتح ${month}` : `من 1 إلى ${day} ${month}`),
    rejected: 'المرفوضة',
    since: (moment) => `منذ ${moment}`,
    sinceYesterday: 'منذ أمس',
  },
};
