import type { Length } from '../../domain/invoice/periods/period-name.ts';
import type { Language } from './languages.ts';

const fr = {
  title: 'Périodes',
  /** Of the links to the month, the quarter and the year. */
  lengths: { month: 'Mois', quarter: 'Trimestre', year: 'Année' } satisfies Record<Length, string>,
  label: 'Durée',
  quarter: (quarter: number, year: number) => `${quarter}${quarter === 1 ? 'er' : 'e'} trimestre ${year}`,
  failed: 'Les montants ne peuvent pas être lus pour le moment.',
  /** When nothing was issued. */
  none: 'Aucun document n’a été émis dans cette période.',
  /** The heading of the accepted amounts, less the credit notes. */
  accepted: 'Acceptées, avoirs déduits',
  netOfAll: 'Total HT',
  taxOfAll: 'TVA',
  totalOfAll: 'Total TTC',
  byRate: 'TVA par taux',
  rate: 'Taux',
  byStatus: 'Documents émis',
  documents: 'Documents',
  count: 'Nombre',
  net: 'HT',
  total: 'TTC',
  rows: {
    invoiced: 'Factures acceptées',
    credited: 'Avoirs acceptés',
    balance: 'Solde',
    open: 'En cours',
    rejectedInvoices: 'Factures rejetées',
    rejectedCreditNotes: 'Avoirs rejetés',
  },
};

const en: typeof fr = {
  title: 'Periods',
  lengths: { month: 'Month', quarter: 'Quarter', year: 'Year' },
  label: 'Length',
  quarter: (quarter, year) => `Q${quarter} ${year}`,
  failed: 'The amounts cannot be read at the moment.',
  none: 'No document was issued in this period.',
  accepted: 'Accepted, less credit notes',
  netOfAll: 'Total excl. VAT',
  taxOfAll: 'VAT',
  totalOfAll: 'Total incl. VAT',
  byRate: 'VAT by rate',
  rate: 'Rate',
  byStatus: 'Issued documents',
  documents: 'Issued',
  count: 'Number',
  net: 'Excl. VAT',
  total: 'Incl. VAT',
  rows: {
    invoiced: 'Accepted invoices',
    credited: 'Accepted credit notes',
    balance: 'Balance',
    open: 'Under way',
    rejectedInvoices: 'Rejected invoices',
    rejectedCreditNotes: 'Rejected credit notes',
  },
};

const ar: typeof fr = {
  title: 'الفترات',
  lengths: { month: 'شهر', quarter: 'ثلاثة أشهر', year: 'سنة' },
  label: 'المدة',
  quarter: (quarter, year) => `الفصل ${quarter} من سنة ${year}`,
  failed: 'تعذرت قراءة المبالغ حاليا.',
  none: 'لم تصدر أي وثيقة في هذه الفترة.',
  accepted: 'المقبولة بعد خصم الإشعارات الدائنة',
  netOfAll: 'المجموع دون الرسوم',
  taxOfAll: 'الضريبة على القيمة المضافة',
  totalOfAll: 'المجموع مع الرسوم',
  byRate: 'الضريبة حسب النسبة',
  rate: 'النسبة',
  byStatus: 'الوثائق الصادرة',
  documents: 'الوثائق',
  count: 'العدد',
  net: 'دون الرسوم',
  total: 'مع الرسوم',
  rows: {
    invoiced: 'الفواتير المقبولة',
    credited: 'الإشعارات الدائنة المقبولة',
    balance: 'الرصيد',
    open: 'قيد المعالجة',
    rejectedInvoices: 'الفواتير المرفوضة',
    rejectedCreditNotes: 'الإشعارات الدائنة المرفوضة',
  },
};

/** The texts of the sums of a period. */
export const PERIOD_TEXTS: Readonly<Record<Language, typeof fr>> = { fr, en, ar };
