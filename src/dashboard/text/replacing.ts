import type { Language } from './languages.ts';

/** The texts about correcting an invoice and issuing it again. */
export interface ReplacingTexts {
  /** The heading of the links between an invoice and its correction. */
  readonly title: string;
  readonly replacedBy: string;
  /** The link to the form. */
  readonly action: string;
  /** What happens, by the status of the invoice. */
  readonly lead: Readonly<Record<'accepted' | 'rejected', string>>;
  readonly pageTitle: string;
  /** The heading of the authority's findings. */
  readonly findings: string;
  readonly submit: string;
}

export const REPLACING_TEXTS: Readonly<Record<Language, ReplacingTexts>> = {
  fr: {
    title: 'Correction',
    replacedBy: 'Remplacée par la facture',
    action: 'Corriger et réémettre',
    lead: {
      accepted:
        'Un avoir annule ce qui reste de cette facture. La facture corrigée est émise dès que l’avoir est accepté.',
      rejected: 'La facture rejetée n’a aucun effet. La facture corrigée la remplace.',
    },
    pageTitle: 'Corriger la facture',
    findings: 'Motifs du rejet',
    submit: 'Émettre la facture corrigée',
  },
  en: {
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
  },
  ar: {
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
  },
};
