import type { Language } from './languages.ts';

const fr = {
  /** The days of a month up to this one. @param month `novembre 2026` */
  daysOf: (month: string, day: number) => (day === 1 ? `1er ${month}` : `1er au ${day} ${month}`),
  rejected: 'Rejetés',
  /** What changed since the last look, or since yesterday. */
  since: (moment: string) => `Depuis le ${moment}`,
  sinceYesterday: 'Depuis hier',
};

const en: typeof fr = {
  daysOf: (month, day) => (day === 1 ? `1 ${month}` : `1 to ${day} ${month}`),
  rejected: 'Rejected',
  since: (moment) => `Since ${moment}`,
  sinceYesterday: 'Since yesterday',
};

const ar: typeof fr = {
  daysOf: (month, day) => (day === 1 ? `فاتح ${month}` : `من 1 إلى ${day} ${month}`),
  rejected: 'المرفوضة',
  since: (moment) => `منذ ${moment}`,
  sinceYesterday: 'منذ أمس',
};

/** The texts of the amounts on the home page. Further texts are those of a period. */
export const AMOUNT_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
