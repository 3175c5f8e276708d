import type { Language } from './languages.ts';

const fr = {
  title: 'Brouillons',
  lead: 'Un brouillon n’a ni numéro ni valeur, et n’est jamais transmis tant qu’il n’est pas émis.',
  none: 'Aucun brouillon.',
  failed: 'Les brouillons ne peuvent pas être lus pour le moment.',
  /** In place of the customer's name. */
  nameless: 'Sans nom de client',
  ready: 'Prêt',
  incomplete: 'Incomplet',
  /** Of the button on the form for a new invoice. */
  keep: 'Enregistrer comme brouillon',
  /** Of the button on the page of an invoice. */
  duplicate: 'Dupliquer',
  pageTitle: 'Brouillon de facture',
  saving: 'Enregistrement…',
  saved: (time: string) => `Enregistré à ${time}`,
  /** After somebody else has changed the draft. */
  changed: 'Quelqu’un d’autre a modifié ou émis ce brouillon. Vos derniers changements ne sont pas enregistrés.',
  reload: 'Lire la version actuelle',
  /** The heading of the problems that prevent the draft from being issued. */
  missing: 'Ce qui empêche l’émission',
  warnings: 'À vérifier',
  preview: 'Aperçu du PDF',
  previewLead: 'Le PDF est marqué comme brouillon\u00a0: il n’a ni numéro ni signature.',
  issue: 'Émettre la facture',
  remove: 'Supprimer le brouillon',
  removeQuestion: 'Le brouillon sera supprimé pour de bon.',
};

const en: typeof fr = {
  title: 'Drafts',
  lead: 'A draft has no number and no value, and is never transmitted until it is issued.',
  none: 'There are no drafts.',
  failed: 'The drafts cannot be read at the moment.',
  nameless: 'No name of a customer',
  ready: 'Ready',
  incomplete: 'Incomplete',
  keep: 'Save as draft',
  duplicate: 'Duplicate',
  pageTitle: 'Draft of an invoice',
  saving: 'Saving…',
  saved: (time) => `Saved at ${time}`,
  changed: 'Somebody else has changed or issued this draft. Your last changes are not saved.',
  reload: 'Read the present version',
  missing: 'What keeps it from being issued',
  warnings: 'To be checked',
  preview: 'Preview of the PDF',
  previewLead: 'The PDF is marked as a draft: it has no number and no signature.',
  issue: 'Issue the invoice',
  remove: 'Delete the draft',
  removeQuestion: 'The draft will be deleted for good.',
};

const ar: typeof fr = {
  title: 'المسودات',
  lead: 'ليس للمسودة رقم ولا قيمة، ولا تُرسل أبدا قبل إصدارها.',
  none: 'لا توجد مسودات.',
  failed: 'تعذرت قراءة المسودات حاليا.',
  nameless: 'بدون اسم زبون',
  ready: 'جاهزة',
  incomplete: 'غير مكتملة',
  keep: 'حفظ كمسودة',
  duplicate: 'إنشاء نسخة',
  pageTitle: 'مسودة فاتورة',
  saving: 'جار الحفظ…',
  saved: (time) => `حُفظت على الساعة ${time}`,
  changed: 'قام شخص آخر بتعديل هذه المسودة أو إصدارها. لم تُحفظ تعديلاتكم الأخيرة.',
  reload: 'قراءة النسخة الحالية',
  missing: 'ما يمنع الإصدار',
  warnings: 'للتحقق',
  preview: 'معاينة ملف PDF',
  previewLead: 'ملف PDF موسوم كمسودة: ليس له رقم ولا توقيع.',
  issue: 'إصدار الفاتورة',
  remove: 'حذف المسودة',
  removeQuestion: 'ستُحذف المسودة نهائيا.',
};

/** The texts about drafts of invoices. */
export type DraftTexts = typeof fr;

export const DRAFT_TEXTS: Readonly<Record<Language, DraftTexts>> = { fr, en, ar };
