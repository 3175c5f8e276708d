import type { Language } from './languages.ts';

interface AdjustmentTexts {
  /** The heading of what concerns all lines. */
  readonly whole: string;
  readonly discount: FigureTexts;
  readonly charge: FigureTexts;
}

interface FigureTexts {
  readonly figure: string;
  readonly reason: string;
  readonly taxIncluded: string;
}

/** The texts about the discount and the charge of a whole invoice. */
export const ADJUSTMENT_TEXTS: Readonly<Record<Language, AdjustmentTexts>> = {
  fr: {
    whole: 'Sur toute la facture',
    discount: {
      figure: 'Remise globale (MAD ou %)',
      reason: 'Motif de la remise (facultatif)',
      taxIncluded: 'Remise TTC',
    },
    charge: { figure: 'Frais (MAD ou %)', reason: 'Motif des frais (facultatif)', taxIncluded: 'Frais TTC' },
  },
  en: {
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
  },
  ar: {
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
  },
};
