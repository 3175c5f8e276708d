import type { Language } from './languages.ts';

const fr = {
  /** The text that opens the fields. */
  title: 'Acomptes',
  /** The label of the box to check. */
  isDeposit: 'C’est une facture d’acompte',
  /** The heading of the deposits to choose. */
  choose: 'Acomptes à déduire',
  /** Shown while no customer is stated. */
  noCustomer: 'Indiquez d’abord le client.',
  none: 'Aucun acompte accepté de ce client n’est à déduire.',
  failed: 'Les acomptes ne peuvent pas être lus pour le moment.',
  /** The label of the button that reads older invoices. */
  older: 'Chercher dans les factures plus anciennes',
  /** @param amount the rest of the deposit, with its currency */
  left: (amount: string) => `reste ${amount} TTC`,
  nothingLeft: 'rien à déduire',
  /** The sum of the deducted deposits, excluding tax. */
  deductedNet: 'Acomptes déduits HT',
  /** On the page of a deposit invoice. */
  deductedIn: 'Déduite dans la facture',
};

const en: typeof fr = {
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
};

const ar: typeof fr = {
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
};

/** The texts about deposits and their deduction. */
export const DEPOSIT_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
