import type { Language } from './languages.ts';
import { counted } from './plural.ts';

const fr = {
  title: 'Registre des numéros',
  /** The result of a number. */
  fate: 'Suite',
  /** Before the credit notes of an invoice that is credited as a whole, or in part. */
  credited: 'Créditée par',
  partlyCredited: 'Créditée en partie par',
  /** Before the number of the replacing invoice. */
  replaced: 'Remplacée par',
  /** Before the number of the invoice that a credit note credits. */
  credits: 'Crédite',
  /** After some credit notes of many. */
  others: counted('fr', { one: 'et # autre', other: 'et # autres' }),
  /** Of numbers without a document. */
  without: 'Sans document',
  lost: 'Sautés après une restauration',
  missing: 'Inexpliqué\u00a0: prévenez l’exploitant du service',
  assigning: 'Attribution en cours',
  /** The numbers of a series in the period. */
  range: (first: string, last: string) => `${first} à ${last}`,
  numbers: counted('fr', { one: '# numéro', other: '# numéros' }),
  noGap: 'aucune lacune n’est consignée',
  gaps: 'sans document\u00a0:',
  /** After some gaps of many. */
  moreGaps: 'et d’autres',
  none: 'Aucun numéro n’a été attribué dans cette période.',
  failed: 'Le registre ne peut pas être lu pour le moment.',
  /** States what the ledger leaves out. */
  own: 'Les numéros que vous attribuez vous-mêmes n’y figurent pas.',
};

const en: typeof fr = {
  title: 'Ledger of numbers',
  fate: 'What became of it',
  credited: 'Credited by',
  partlyCredited: 'Credited in part by',
  replaced: 'Replaced by',
  credits: 'Credits',
  others: counted('en', { one: 'and # other', other: 'and # others' }),
  without: 'No document',
  lost: 'Passed over after a restore',
  missing: 'Unexplained: tell the operator of the service',
  assigning: 'Being assigned',
  range: (first, last) => `${first} to ${last}`,
  numbers: counted('en', { one: '# number', other: '# numbers' }),
  noGap: 'no gap was noted',
  gaps: 'without a document:',
  moreGaps: 'and others',
  none: 'No number was assigned in this period.',
  failed: 'The ledger cannot be read at the moment.',
  own: 'Numbers that you give yourself are not in it.',
};

const ar: typeof fr = {
  title: 'سجل الأرقام',
  fate: 'المآل',
  credited: 'أُلغيت بالإشعار الدائن',
  partlyCredited: 'خُفضت بالإشعار الدائن',
  replaced: 'حلت محلها الفاتورة',
  credits: 'يتعلق بالفاتورة',
  others: counted('ar', {
    one: 'وإشعار آخر',
    two: 'وإشعارين آخرين',
    few: 'و# إشعارات أخرى',
    many: 'و# إشعارا آخر',
    other: 'و# إشعار آخر',
  }),
  without: 'بلا وثيقة',
  lost: 'تُجووزت بعد استرجاع بيانات أقدم',
  missing: 'بلا تفسير، أبلغوا مشغّل الخدمة',
  assigning: 'قيد الإسناد',
  range: (first, last) => `من ${first} إلى ${last}`,
  numbers: counted('ar', {
    zero: 'لا رقم',
    one: 'رقم واحد',
    two: 'رقمان',
    few: '# أرقام',
    many: '# رقما',
    other: '# رقم',
  }),
  noGap: 'لم تُسجل أي فجوة',
  gaps: 'أرقام بلا وثيقة:',
  moreGaps: 'وغيرها',
  none: 'لم يُسند أي رقم في هذه الفترة.',
  failed: 'تعذرت قراءة السجل حاليا.',
  own: 'لا يتضمن السجل الأرقام التي تسندونها بأنفسكم.',
};

/** The texts of the ledger of numbers of a period. */
export const NUMBER_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
