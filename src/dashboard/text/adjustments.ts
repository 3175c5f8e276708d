import type { Language } from './languages.ts';

const fr = {
  /** The heading of the fields for all lines together. */
  whole: 'Sur toute la facture',
  discount: {
    figure: 'Remise globale (MAD ou %)',
    reason: 'Motif de la remise (facultatif)',
    taxIncluded: 'Remise TTC',
  },
  charge: { figure: 'Frais (MAD ou %)', reason: 'Motif des frais (facultatif)', taxIncluded: 'Frais TTC' },
};

const en: typeof fr = {
  whole: 'On the whole invoice',
  discount: {
    figure: 'Overall discount (MAD or %)',
    reason: 'Reason of the discount (optional)',
    taxIncluded: 'Discount includes VAT',
  },
  charge: {
    figure: 'Charge (MAD or %)',
    reason: 'Reason of the charge (optional)',
    taxIncluded: 'Charge includes VAT',
  },
};

const ar: typeof fr = {
  whole: 'على الفاتورة كلها',
  discount: {
    figure: 'خصم إجمالي (درهم أو %)',
    reason: 'سبب الخصم (اختياري)',
    taxIncluded: 'الخصم مع الرسوم',
  },
  charge: {
    figure: 'مصاريف (درهم أو %)',
    reason: 'سبب المصاريف (اختياري)',
    taxIncluded: 'المصاريف مع الرسوم',
  },
};

/** The texts about the discount and the charge of a whole invoice. */
export const ADJUSTMENT_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
