import type { Language } from './languages.ts';

interface DepositTexts {
  /** Of what opens the fields. */
  readonly title: string;
  /** Of the box to check. */
  readonly isDeposit: string;
  /** The heading of the deposits to choose. */
  readonly choose: string;
  /** While no customer is stated. */
  readonly noCustomer: string;
  readonly none: string;
  readonly failed: string;
  /** Of the button that reads older invoices. */
  readonly older: string;
  /** @param amount what is left, with its currency */
  readonly left: (amount: string) => string;
  readonly nothingLeft: string;
  /** The sum of the deducted deposits, excluding tax. */
  readonly deductedNet: string;
  /** On the page of a deposit invoice. */
  readonly deductedIn: string;
}

/** The texts about deposits and their deduction. */
export const DEPOSIT_TEXTS: Readonly<Record<Language, DepositTexts>> = {
  fr: {
    title: 'Acomptes',
    isDeposit: 'C’est une facture d’acompte',
    choose: 'Acomptes à déduire',
    noCustomer: 'Indiquez d’abord le client.',
    none: 'Aucun acompte accepté de ce client n’est à déduire.',
    failed: 'Les acomptes ne peuvent pas être lus pour le moment.',
    older: 'Chercher dans les factures plus anciennes',
    left: (amount) => `reste ${amount} TTC`,
    nothingLeft: 'rien à déduire',
    deductedNet: 'Acomptes déduits HT',
    deductedIn: 'Déduite dans la facture',
  },
  en: {
    title: 'Deposits',
    isDeposit: 'This is a deposit invoice',
    choose: 'Deposits to deduct',
    noCustomer: 'State the customer first.',
    none: 'This customer has no accepted deposit to deduct.',
    failed: 'The deposits cannot be read at the moment.',
    older: 'Search older invoices',
    left: (amount) => `${amount} left, incl. VAT`,
    nothingLeft: 'nothing to deduct',
    deductedNet: 'Deposits deducted, excl. VAT',
    deductedIn: 'Deducted in invoice',
  },
  ar: {
    title: 'التسبيقات',
    isDeposit: 'هذه فاتورة تسبيق',
    choose: 'التسبيقات المراد خصمها',
    noCustomer: 'حددوا الزبون أولا.',
    none: 'لا يوجد تسبيق مقبول لهذا الزبون يمكن خصمه.',
    failed: 'تعذرت قراءة التسبيقات حاليا.',
    older: 'البحث في الفواتير الأقدم',
    left: (amount) => `الباقي ${amount} مع الرسوم`,
    nothingLeft: 'لا شيء للخصم',
    deductedNet: 'التسبيقات المخصومة دون الرسوم',
    deductedIn: 'خُصمت في الفاتورة',
  },
};
