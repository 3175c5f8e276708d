import type { Language } from './languages.ts';

interface KeyTexts {
  /** Of the field for the name of a key that is about to be created. */
  readonly nameOfNew: string;
  readonly nameOfKey: string;
  readonly rename: string;
  /** Before the time of the last use. */
  readonly lastUse: string;
  /** Of a key without a noted use. The service did not always note them. */
  readonly noUse: string;
}

/** The texts of the names and uses of keys. */
export const KEY_TEXTS: Readonly<Record<Language, KeyTexts>> = {
  fr: {
    nameOfNew: 'Nom de la nouvelle clé (facultatif)',
    nameOfKey: 'Nom de la clé',
    rename: 'Renommer',
    lastUse: 'dernière utilisation le',
    noUse: 'aucune utilisation consignée',
  },
  en: {
    nameOfNew: 'Name of the new key (optional)',
    nameOfKey: 'Name of the key',
    rename: 'Rename',
    lastUse: 'last used on',
    noUse: 'no use noted',
  },
  ar: {
    nameOfNew: 'اسم المفتاح الجديد (اختياري)',
    nameOfKey: 'اسم المفتاح',
    rename: 'تغيير الاسم',
    lastUse: 'آخر استعمال',
    noUse: 'لم يُسجل أي استعمال',
  },
};
