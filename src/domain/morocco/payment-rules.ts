import { informationRule, type PeriodRow, READ, READ_EARLIER, warningRule } from './rule.ts';
import { cashDuty, isPaidInCash, operationOf, termInDays } from './rule-findings.ts';
import { STAMP_DUTY } from './stamp-duty.ts';

interface TermFigures extends Readonly<Record<string, number>> {
  /** In days, if nothing is agreed on. */
  readonly days: number;
  /** In days, at most. */
  readonly longest: number;
  /** Of the sellers concerned, in millions of dirhams. */
  readonly turnover: number;
}

const LAW_69_21 = { source: 'm.libe.ma a140365; actu-maroc.com; comptablearabat.ma', readOn: READ };
const PAYMENT_TERMS: readonly PeriodRow<TermFigures>[] = [
  { from: '2023-07-01', figures: { days: 60, longest: 120, turnover: 50 }, ...LAW_69_21 },
  { from: '2024-01-01', figures: { days: 60, longest: 120, turnover: 10 }, ...LAW_69_21 },
  { from: '2025-01-01', figures: { days: 60, longest: 120, turnover: 2 }, ...LAW_69_21 },
];

const CASH_LIMITS = { source: 'fnh.ma; finaudit.ma; maghress.com/arrifinu/433807', readOn: READ };

/** The rules of payment, by code. */
export const PAYMENT_RULES = {
  due_date_missing: warningRule({
    status: 'in_force',
    article: 'loi 69-21',
    says: {
      fr: 'Sans accord des parties, une facture est à payer dans les {days} jours (vendeurs de plus de {turnover} millions de dirhams de chiffre d’affaires).',
      ar: 'دون اتفاق بين الطرفين، تؤدى الفاتورة داخل {days} يوما (البائعون الذين يفوق رقم معاملاتهم {turnover} مليون درهم).',
      en: 'Unless the parties agree otherwise, an invoice is to be paid within {days} days (sellers with a turnover above {turnover} million dirhams).',
    },
    warning: {
      description:
        "The invoice states no due date. If the parties agreed on none, law 69-21 sets it to {days} days after the invoice's date.",
      remedy: 'Send terms.dueDate (GraphQL), or set paymentTermDays in the profile.',
    },
    periods: PAYMENT_TERMS,
    concerns: ({ kind, terms }) => (kind === 'invoice' && terms.dueDate === null ? [{ path: 'terms.dueDate' }] : []),
  }),
  due_date_late: warningRule({
    status: 'in_force',
    article: 'loi 69-21',
    says: {
      fr: 'Le délai de paiement convenu ne dépasse pas {longest} jours ; un décret peut en permettre un plus long à un secteur (vendeurs de plus de {turnover} millions de dirhams de chiffre d’affaires).',
      ar: 'لا يتجاوز أجل الأداء المتفق عليه {longest} يوما، ويمكن أن يسمح مرسوم بأجل أطول لقطاع ما (البائعون الذين يفوق رقم معاملاتهم {turnover} مليون درهم).',
      en: 'The agreed term of payment is at most {longest} days; a decree may allow a sector a longer one (sellers with a turnover above {turnover} million dirhams).',
    },
    warning: {
      description:
        "The due date is more than {longest} days after the invoice's date, the longest term that law 69-21 allows; a decree may allow a longer one for a sector.",
      remedy: 'Check it, and paymentTermDays in the profile.',
    },
    periods: PAYMENT_TERMS,
    concerns: (document, { longest }, date) => {
      const { term, fromMonthEnd } = termInDays(document, date);
      if (term <= longest) return [];
      const what = `The due date is more than ${longest} days after the end of the month of the operation, from which law 69-21 counts because the invoice is of a later month.`;
      return [{ path: 'terms.dueDate', ...(fromMonthEnd && { what }) }];
    },
  }),
  due_date_agreement: informationRule({
    status: 'in_force',
    article: 'loi 69-21',
    says: {
      fr: 'Un délai de paiement de plus de {days} jours suppose un accord des parties, pour {longest} jours au plus.',
      ar: 'أجل الأداء الذي يفوق {days} يوما يفترض اتفاق الطرفين، دون أن يتجاوز {longest} يوما.',
      en: 'A term of payment of more than {days} days needs an agreement of the parties, and is at most {longest} days.',
    },
    periods: PAYMENT_TERMS,
    concerns: (document, { days, longest }, date) => {
      const { term } = termInDays(document, date);
      return term > days && term <= longest ? [{ path: 'terms.dueDate' }] : [];
    },
  }),
  invoiced_after_month_end: warningRule({
    status: 'in_force',
    article: 'loi 69-21',
    says: {
      fr: 'La facture est émise au plus tard le dernier jour du mois de la livraison ; sinon le délai de paiement court de la fin de ce mois.',
      ar: 'تصدر الفاتورة في أجل أقصاه آخر يوم من شهر التسليم، وإلا احتسب أجل الأداء ابتداء من نهاية ذلك الشهر.',
      en: 'The invoice is issued on the last day of the month of the delivery at the latest; otherwise the term of payment counts from the end of that month.',
    },
    warning: {
      description:
        'The invoice is of a later month than its operation. The term of payment counts from the end of the month of the operation.',
      remedy: 'Check terms.operationDate, and issue invoices in the month of the delivery.',
    },
    periods: PAYMENT_TERMS,
    concerns: (document, _figures, date) =>
      termInDays(document, date).fromMonthEnd ? [{ path: operationOf(document).path }] : [],
  }),
  cash_fine: warningRule({
    status: 'in_force',
    article: 'CGI, art. 193',
    says: {
      fr: 'Le vendeur qui encaisse {limit} dirhams ou plus en espèces encourt une amende de {percent} %.',
      ar: 'يتعرض البائع الذي يستخلص {limit} درهم أو أكثر نقدا لغرامة {percent} في المائة.',
      en: 'A seller who takes {limit} dirhams or more in cash is fined {percent} %.',
    },
    warning: {
      description: 'Sellers who take {limit} dirhams or more in cash are fined {percent} % (CGI, art. 193).',
      remedy: 'Agree on a transfer, a cheque or a card, and state it as terms.paymentMeans.',
    },
    periods: [{ from: null, figures: { limit: 20_000, percent: 6 }, ...CASH_LIMITS }],
    concerns: (document, { limit }) => isPaidInCash(document, ({ total }) => total >= limit * 100),
  }),
  cash_deduction_limit: informationRule({
    status: 'in_force',
    article: 'CGI, art. 11-II',
    says: {
      fr: 'L’acheteur ne déduit de ses achats en espèces que {day} dirhams par jour et {month} par mois et par fournisseur.',
      ar: 'لا يخصم المشتري من مشترياته نقدا سوى {day} درهم في اليوم و{month} درهم في الشهر لكل مورد.',
      en: 'Of purchases in cash the buyer deducts at most {day} dirhams a day, and {month} a month and supplier.',
    },
    periods: [
      { from: null, figures: { day: 5000, month: 50_000 }, source: 'fnh.ma; finaudit.ma', readOn: READ_EARLIER },
    ],
    concerns: (document, { day }) => isPaidInCash(document, ({ total }) => total > day * 100),
  }),
  cash_stamp_duty: informationRule({
    status: 'in_force',
    article: 'CGI, art. 252-I-B',
    says: {
      fr: 'Ce qui est encaissé en espèces supporte un droit de timbre de {percent} %.',
      ar: 'يخضع ما يستخلص نقدا لرسم التنبر بنسبة {percent} في المائة.',
      en: 'What is received in cash bears a stamp duty of {percent} %.',
    },
    periods: STAMP_DUTY,
    concerns: (document, _figures, date) => cashDuty(document, date),
  }),
} as const;
