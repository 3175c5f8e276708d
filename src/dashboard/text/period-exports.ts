import type { Language } from './languages.ts';

/** The files of a period. */
export const PERIOD_FILES = ['declaration.xlsx', 'declaration.csv', 'documents.zip'] as const;
export type PeriodFile = (typeof PERIOD_FILES)[number];

const fr = {
  title: 'Fichiers de la période',
  files: {
    'declaration.xlsx': 'Déclaration de TVA (Excel)',
    'declaration.csv': 'Déclaration de TVA (CSV)',
    'documents.zip': 'PDF et XML (ZIP)',
  } satisfies Record<PeriodFile, string>,
  /** Before the service sends anything. */
  preparing: 'Le fichier est en cours de préparation…',
  /** While the service makes documents of an archive, and while they are received. */
  ready: (done: string, all: string) => `Documents prêts\u00a0: ${done} sur ${all}`,
  received: (done: string, all: string) => `Documents téléchargés\u00a0: ${done} sur ${all}`,
  saved: 'Le fichier est enregistré.',
  interrupted: 'Le téléchargement s’est interrompu\u00a0: le service est injoignable.',
  resume: 'Reprendre',
  /** When documents are still not ready after some time. */
  lacking: 'Certains documents ne sont pas encore prêts. Réessayez plus tard, ou téléchargez les autres.',
  withoutThem: 'Télécharger les autres',
  /** When other downloads take all places for some time. */
  busy: 'D’autres téléchargements sont en cours. Réessayez lorsqu’ils seront terminés.',
  tooMany: 'Cette période a trop de documents. Choisissez-en une plus courte.',
  /** When the person may not read the file any more, or it does not exist. */
  refused: 'Ce fichier ne vous est pas accessible. Demandez vos droits à un propriétaire de l’entreprise.',
};

const en: typeof fr = {
  title: 'Files of the period',
  files: {
    'declaration.xlsx': 'VAT declaration (Excel)',
    'declaration.csv': 'VAT declaration (CSV)',
    'documents.zip': 'PDF and XML (ZIP)',
  },
  preparing: 'The file is being prepared…',
  ready: (done, all) => `Documents ready: ${done} of ${all}`,
  received: (done, all) => `Documents downloaded: ${done} of ${all}`,
  saved: 'The file is saved.',
  interrupted: 'The download was interrupted: the service cannot be reached.',
  resume: 'Continue',
  lacking: 'Some documents are not ready yet. Try again later, or download the others.',
  withoutThem: 'Download the others',
  busy: 'Other downloads are running. Try again when they have ended.',
  tooMany: 'This period has too many documents. Choose a shorter one.',
  refused: 'You cannot read this file. Ask an owner of the tenant for your permissions.',
};

const ar: typeof fr = {
  title: 'ملفات الفترة',
  files: {
    'declaration.xlsx': 'التصريح بالضريبة على القيمة المضافة (Excel)',
    'declaration.csv': 'التصريح بالضريبة على القيمة المضافة (CSV)',
    'documents.zip': 'ملفات PDF و XML (ZIP)',
  },
  preparing: 'يجري إعداد الملف…',
  ready: (done, all) => `الوثائق الجاهزة: ${done} من أصل ${all}`,
  received: (done, all) => `الوثائق المنزّلة: ${done} من أصل ${all}`,
  saved: 'تم حفظ الملف.',
  interrupted: 'توقف التنزيل: تعذر الوصول إلى الخدمة.',
  resume: 'متابعة',
  lacking: 'بعض الوثائق ليست جاهزة بعد. أعيدوا المحاولة لاحقا، أو نزّلوا الوثائق الأخرى.',
  withoutThem: 'تنزيل الوثائق الأخرى',
  busy: 'هناك تنزيلات أخرى جارية. أعيدوا المحاولة بعد انتهائها.',
  tooMany: 'في هذه الفترة وثائق كثيرة جدا. اختاروا فترة أقصر.',
  refused: 'لا يمكنكم الاطلاع على هذا الملف. اطلبوا صلاحياتكم من أحد مالكي المقاولة.',
};

/** The texts about the files of a period. */
export const PERIOD_EXPORT_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
