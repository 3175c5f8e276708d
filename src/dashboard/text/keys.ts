import type { Language } from './languages.ts';

const fr = {
  /** Of the field for the name of a key that is about to be created. */
  nameOfNew: 'Nom de la nouvelle clé (facultatif)',
  nameOfKey: 'Nom de la clé',
  rename: 'Renommer',
  /** Before the time of the last use. */
  lastUse: 'dernière utilisation le',
  /** Of a key without a recorded use. Uses before a certain version were not recorded. */
  noUse: 'aucune utilisation consignée',
};

const en: typeof fr = {
  nameOfNew: 'Name of the new key (optional)',
  nameOfKey: 'Name of the key',
  rename: 'Rename',
  lastUse: 'last used on',
  noUse: 'no use noted',
};

const ar: typeof fr = {
  nameOfNew: 'اسم المفتاح الجديد (اختياري)',
  nameOfKey: 'اسم المفتاح',
  rename: 'تغيير الاسم',
  lastUse: 'آخر استعمال',
  noUse: 'لم يُسجل أي استعمال',
};

/** The texts of the names and uses of keys. */
export const KEY_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
