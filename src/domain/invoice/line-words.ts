import type { DocumentLanguage } from '../document-language.ts';

/** The words that the service adds to the text of a line. */
interface LineWords {
  /** The decimal sign. */
  readonly decimal: ',' | '.';
  readonly withTax: string;
  readonly withoutTax: string;
  /** The discount of the whole document. */
  readonly discount: string;
  /** The charge of the whole document. */
  readonly charge: string;
  readonly deposit: string;
  /** All that is left of an invoice, as a line of its credit note. */
  balance(number: string): string;
  /** An amount without a text of its own, as a line of a credit note. */
  credit(number: string): string;
}

export const LINE_WORDS: Readonly<Record<DocumentLanguage, LineWords>> = {
  fr: {
    decimal: ',',
    withTax: 'TTC',
    withoutTax: 'HT',
    discount: 'remise globale',
    charge: 'frais',
    deposit: 'acompte',
    balance: (number) => `Solde de la facture ${number}`,
    credit: (number) => `Avoir sur la facture ${number}`,
  },
  ar: {
    decimal: ',',
    withTax: 'مع الرسوم',
    withoutTax: 'دون رسوم',
    discount: 'خصم إجمالي',
    charge: 'مصاريف',
    deposit: 'تسبيق',
    balance: (number) => `باقي الفاتورة ${number}`,
    credit: (number) => `إشعار دائن عن الفاتورة ${number}`,
  },
  en: {
    decimal: '.',
    withTax: 'incl. VAT',
    withoutTax: 'excl. VAT',
    discount: 'overall discount',
    charge: 'charges',
    deposit: 'deposit',
    balance: (number) => `Balance of invoice ${number}`,
    credit: (number) => `Credit for invoice ${number}`,
  },
};
