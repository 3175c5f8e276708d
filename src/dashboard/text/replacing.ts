import type { Language } from './languages.ts';

const fr = {
  /** The heading of the links between an invoice and its correction. */
  title: 'Correction',
  replacedBy: 'Remplacée par la facture',
  /** The link to the form. */
  action: 'Corriger et réémettre',
  /** What happens, by the status of the invoice. */
  lead: {
    accepted:
      'Un avoir annule ce qui reste de cette facture. La facture corrigée est émise dès que l’avoir est accepté.',
    rejected: 'La facture rejetée n’a aucun effet. La facture corrigée la remplace.',
  },
  pageTitle: 'Corriger la facture',
  /** The heading of the authority's findings. */
  findings: 'Motifs du rejet',
  submit: 'Émettre la facture corrigée',
};

const en: typeof fr = {
  title: 'Correction',
  replacedBy: 'Replaced by invoice',
  action: 'Correct and issue again',
  lead: {
    accepted:
      'A credit note cancels what is left of this invoice. The corrected invoice is issued once the credit note is accepted.',
    rejected: 'The rejected invoice has no effect. The corrected one replaces it.',
  },
  pageTitle: 'Correct invoice',
  findings: 'Why it was rejected',
  submit: 'Issue the corrected invoice',
};

const ar: typeof fr = {
  title: 'التصحيح',
  replacedBy: 'حلت محلها الفاتورة',
  action: 'تصحيح وإعادة إصدار',
  lead: {
    accepted: 'يُلغي إشعار دائن ما تبقى من هذه الفاتورة، وتصدر الفاتورة المصححة فور قبول الإشعار.',
    rejected: 'لا أثر للفاتورة المرفوضة، وتحل الفاتورة المصححة محلها.',
  },
  pageTitle: 'تصحيح الفاتورة',
  findings: 'أسباب الرفض',
  submit: 'إصدار الفاتورة المصححة',
};

/** The texts about correcting an invoice and issuing it again. */
export type ReplacingTexts = typeof fr;

export const REPLACING_TEXTS: Readonly<Record<Language, ReplacingTexts>> = { fr, en, ar };
