import { addDays, wholeMonths } from '../calendar-date.ts';
import { informationRule, type PeriodRow, READ, type Texts, warningRule } from './rule.ts';
import { withheld } from './rule-findings.ts';

/** The buyers that withhold VAT. */
const PUBLIC_BUYERS: Texts = {
  fr: 'l’État, les collectivités et les établissements publics',
  ar: 'الدولة والجماعات والمؤسسات العمومية',
  en: 'the State, local authorities and public bodies',
};

/** @param turnover in millions of dirhams, without VAT */
function alsoPrivateFrom(turnover: number): Texts {
  return {
    fr: `${PUBLIC_BUYERS.fr}, les banques, les assureurs et les entreprises d’au moins ${turnover} millions de dirhams de chiffre d’affaires`,
    ar: `${PUBLIC_BUYERS.ar} والأبناك ومقاولات التأمين والمقاولات التي لا يقل رقم معاملاتها عن ${turnover} مليون درهم`,
    en: `${PUBLIC_BUYERS.en}, banks, insurers and companies with a turnover of at least ${turnover} million dirhams`,
  };
}

const WITHHOLDING_2024 = { source: 'challenge.ma 271651; bboandpartners.com; winnersoft.ma/1197-2', readOn: READ };
const WITHHOLDING_2026 = {
  source: 'maghress.com/fr/lavieeco/436650; fr.le360.ma 2026-01-06; leconomiste 1122442; vatupdate 335565',
  readOn: READ,
};

/** The first day on which buyers withhold VAT. */
const SINCE = '2024-07-01';
/**
 * `minimum`: the least amount of an invoice, in dirhams with tax. `months`: the age from which a certificate no longer
 * counts.
 */
const LIMITS = { minimum: 5000, months: 6 };
/** Of the VAT: with a certificate, and without. */
const PERCENTS = { withCertificate: 75, without: 100 };

/** @param figures since the first day */
function sinceThen<Figures>(figures: Figures): readonly PeriodRow<Figures>[] {
  return [{ from: SINCE, figures, ...WITHHOLDING_2024 }];
}

/** The rules of the VAT that a buyer withholds, by code. An invoice says whether its buyer does. */
export const WITHHOLDING_RULES = {
  vat_withheld: informationRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'Des acheteurs retiennent la TVA à partir de {minimum} dirhams TTC : {buyers}. Travaux et biens d’équipement : 100 % sans attestation de régularité fiscale de moins de {months} mois. Services : 75 % avec attestation, 100 % sans.',
      ar: 'يحجز بعض المشترين الضريبة على القيمة المضافة من المنبع ابتداء من {minimum} درهم شاملة للضريبة: {buyers}. الأشغال ومعدات التجهيز: 100 في المائة دون شهادة سلامة الوضعية الجبائية صادرة منذ أقل من {months} أشهر. الخدمات: 75 في المائة مع الشهادة و100 في المائة دونها.',
      en: 'Some buyers withhold VAT from {minimum} dirhams with tax on: {buyers}. Works and equipment: 100 % without a certificate of tax regularity younger than {months} months. Services: 75 % with the certificate, 100 % without.',
    },
    doubt: {
      fr: 'Les sources se contredisent sur les fournisseurs concernés (personnes physiques seulement, ou tous), sur le taux de 75 ou 100 % et sur l’âge de l’attestation (3 ou 6 mois). La facture ne dit ni la nature de l’opération ni celle de l’acheteur.',
      ar: 'تتعارض المصادر بشأن الموردين المعنيين (الأشخاص الذاتيون فقط أم الجميع) وبشأن نسبة 75 أو 100 في المائة وعمر الشهادة (3 أو 6 أشهر). ولا تبين الفاتورة طبيعة العملية ولا صفة المشتري.',
      en: 'The sources differ on the suppliers concerned (natural persons only, or all), on 75 or 100 % and on the age of the certificate (3 or 6 months). The invoice states neither the kind of operation nor that of the buyer.',
    },
    periods: [
      { from: SINCE, figures: { ...LIMITS, buyers: PUBLIC_BUYERS }, ...WITHHOLDING_2024 },
      { from: '2026-07-01', figures: { ...LIMITS, buyers: alsoPrivateFrom(500) }, ...WITHHOLDING_2026 },
      { from: '2027-01-01', figures: { ...LIMITS, buyers: alsoPrivateFrom(350) }, ...WITHHOLDING_2026 },
      { from: '2028-01-01', figures: { ...LIMITS, buyers: alsoPrivateFrom(200) }, ...WITHHOLDING_2026 },
    ],
    concerns: (document, { minimum }) => withheld(document, minimum),
  }),
  withholding_not_in_force: warningRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'L’acheteur ne retient pas encore la TVA.',
      ar: 'لا يحجز المشتري بعد الضريبة على القيمة المضافة من المنبع.',
      en: 'The buyer does not withhold VAT yet.',
    },
    warning: {
      description:
        "The invoice states that the buyer withholds VAT; on the invoice's date the law knows no such thing.",
      remedy: 'Leave out withholding.',
    },
    periods: [{ from: null, until: addDays(SINCE, -1), figures: {}, ...WITHHOLDING_2024 }],
    concerns: ({ withholding }) => (withholding ? [{ path: 'withholding' }] : []),
  }),
  withholding_below_minimum: warningRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'L’acheteur ne retient rien sur une facture de moins de {minimum} dirhams TTC.',
      ar: 'لا يحجز المشتري شيئا من فاتورة تقل عن {minimum} درهم شاملة للضريبة.',
      en: 'The buyer withholds nothing of an invoice below {minimum} dirhams with tax.',
    },
    warning: {
      description:
        'The invoice states that the buyer withholds VAT; below {minimum} dirhams with tax nothing is withheld.',
      remedy: 'Check it with the customer, or leave out withholding.',
    },
    periods: sinceThen({ minimum: LIMITS.minimum }),
    concerns: ({ withholding, total }, { minimum }) =>
      withholding && total < minimum * 100 ? [{ path: 'withholding' }] : [],
  }),
  withholding_by_no_company: warningRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'Un particulier ou un client étranger ne retient pas la TVA.',
      ar: 'لا يحجز الشخص العادي ولا الزبون الأجنبي الضريبة على القيمة المضافة.',
      en: 'A private person or a customer abroad does not withhold VAT.',
    },
    warning: {
      description:
        'The invoice states that the buyer withholds VAT; private persons and customers abroad withhold none.',
      remedy: 'Check customer.kind, or leave out withholding.',
    },
    periods: sinceThen({}),
    concerns: ({ withholding, buyer }) => (withholding && buyer.kind !== 'company' ? [{ path: 'withholding' }] : []),
  }),
  withholding_percent_unknown: warningRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'L’acheteur retient {percents} % de la TVA.',
      ar: 'يحجز المشتري {percents} في المائة من الضريبة على القيمة المضافة.',
      en: 'The buyer withholds {percents} % of the VAT.',
    },
    warning: {
      description: 'The percentage of the VAT that the buyer withholds is none of {percents} %.',
      remedy: 'Check withholding.percent.',
    },
    periods: sinceThen({ percents: Object.values(PERCENTS) }),
    concerns: ({ withholding }, { percents }) => {
      if (!withholding || percents.includes(withholding.percent)) return [];
      const what = `The buyer withholds ${withholding.percent} % of the VAT, which is none of ${percents.join(', ')} %.`;
      return [{ path: 'withholding.percent', what }];
    },
  }),
  withholding_certificate_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'Une retenue de {percent} % suppose l’attestation de régularité fiscale du vendeur.',
      ar: 'يفترض حجز {percent} في المائة شهادة سلامة الوضعية الجبائية للبائع.',
      en: 'Withholding {percent} % rests on the seller’s certificate of tax regularity.',
    },
    warning: {
      description: '{percent} % of the VAT is withheld without a certificate of tax regularity of the seller.',
      remedy: 'Send withholding.certificate with its number and date.',
    },
    periods: sinceThen({ percent: PERCENTS.withCertificate }),
    concerns: ({ withholding }, { percent }) =>
      withholding && withholding.percent === percent && !withholding.certificate
        ? [{ path: 'withholding.certificate' }]
        : [],
  }),
  withholding_certificate_old: warningRule({
    status: 'in_force',
    article: 'CGI, art. 117',
    says: {
      fr: 'L’attestation de régularité fiscale a moins de {months} mois à la date de la facture.',
      ar: 'يقل عمر شهادة سلامة الوضعية الجبائية عن {months} أشهر في تاريخ الفاتورة.',
      en: 'The certificate of tax regularity is younger than {months} months on the date of the invoice.',
    },
    warning: {
      description: 'The certificate of tax regularity is {months} months old or older.',
      remedy: 'State a younger one in withholding.certificate. Without one, all VAT is withheld.',
    },
    periods: sinceThen({ months: LIMITS.months }),
    concerns: ({ withholding }, { months }, date) => {
      if (!withholding?.certificate) return [];
      const age = wholeMonths(withholding.certificate.date, date);
      const what = `The certificate of tax regularity is ${age} months old on the invoice's date; it counts while it is younger than ${months}.`;
      return age < months ? [] : [{ path: 'withholding.certificate.date', what }];
    },
  }),
} as const;
