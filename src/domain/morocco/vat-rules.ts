import { RATE_PERIODS } from './rate-periods.ts';
import { always, informationRule, READ, READ_EARLIER, type Texts, warningRule } from './rule.ts';
import { firstOfRates, lacksCertificate, needsProfileReason, withheld } from './rule-findings.ts';

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
    ar: `${PUBLIC_BUYERS.ar} والأبناك وشركات التأمين والمقاولات التي لا يقل رقم معاملاتها عن ${turnover} مليون درهم`,
    en: `${PUBLIC_BUYERS.en}, banks, insurers and companies with a turnover of at least ${turnover} million dirhams`,
  };
}

const WITHHOLDING_2024 = { source: 'challenge.ma 271651; bboandpartners.com; winnersoft.ma/1197-2', readOn: READ };
const WITHHOLDING_2026 = {
  source: 'maghress.com/fr/lavieeco/436650; fr.le360.ma 2026-01-06; leconomiste 1122442; vatupdate 335565',
  readOn: READ,
};

const EXEMPTION_SOURCES = always('flasheconomie.com (DGI, note 17-01-2019); decree 2-06-574', READ);

/** The rules of VAT, by code. */
export const VAT_RULES = {
  tax_rate_not_in_force: warningRule({
    status: 'in_force',
    article: 'CGI; loi de finances 55-23 (2024)',
    says: {
      fr: 'La TVA a les taux de {rates} %, et des exonérations. Un autre taux ne vaut que dans l’avoir d’une facture de son époque.',
      ar: 'للضريبة على القيمة المضافة نسب {rates} في المائة، إضافة إلى الإعفاءات. ولا تصلح نسبة أخرى إلا في إشعار دائن يخص فاتورة من زمنها.',
      en: 'VAT has the rates {rates} %, and exemptions. Another rate is right only in the credit note of an invoice of its time.',
    },
    warning: {
      description: "A rate of VAT is not in force on the invoice's date. The rates are {rates} %, and exemptions.",
      remedy: 'Check tax_rate.',
    },
    byOriginal: true,
    periods: RATE_PERIODS,
    concerns: ({ taxRates }, { rates }) => firstOfRates(taxRates, (rate) => rate > 0 && !rates.includes(rate)),
  }),
  exemption_reason_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 145-III, 91, 92, 94',
    says: {
      fr: 'Une ligne à 0 % mentionne l’exonération ou le régime suspensif et son article.',
      ar: 'السطر بنسبة 0 في المائة يبين الإعفاء أو النظام الواقف ومادته القانونية.',
      en: 'A line at 0 % states its exemption or suspension with the article.',
    },
    warning: {
      description: 'Lines at 0 % need the reason of their exemption (CGI, art. 91 and 92).',
      remedy: 'Add exemptionReason to the profile.',
    },
    namesLaw: true,
    periods: EXEMPTION_SOURCES,
    // Also if the specimen seller's reason is printed, because the profile lacks its own.
    concerns: (document) =>
      document.exemptionReason?.trim() || !needsProfileReason(document) ? [] : [{ path: 'seller.exemptionReason' }],
  }),
  exemption_article_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 145-III, 91, 92, 94',
    says: {
      fr: 'Le motif d’une exonération cite son article. Une vente en suspension repose sur l’attestation de l’acheteur.',
      ar: 'يذكر سبب الإعفاء مادته القانونية. ويستند البيع مع وقف الضريبة إلى شهادة المشتري.',
      en: 'The reason of an exemption names its article. A sale under suspension rests on the buyer’s certificate.',
    },
    warning: {
      description: 'The reason of the exemption names no article of the law.',
      remedy: 'Name it in exemptionReason of the profile: "article 92-I-1° du CGI".',
    },
    periods: EXEMPTION_SOURCES,
    concerns: (document) => {
      const reason = document.exemptionReason?.trim();
      return needsProfileReason(document) && reason && !/\p{Nd}/u.test(reason)
        ? [{ path: 'seller.exemptionReason' }]
        : [];
    },
  }),
  exemption_certificate_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 94',
    says: {
      fr: 'Une vente en suspension de la TVA repose sur l’attestation de l’acheteur, que la facture mentionne.',
      ar: 'يستند البيع مع وقف استيفاء الضريبة على القيمة المضافة إلى شهادة المشتري، وتذكرها الفاتورة.',
      en: 'A sale under suspension of VAT rests on the buyer’s certificate, which the invoice states.',
    },
    warning: {
      description: 'A line is sold under suspension of VAT without the certificate of the buyer.',
      remedy: 'Send exemption.certificate with its number and date.',
    },
    periods: EXEMPTION_SOURCES,
    concerns: lacksCertificate,
  }),
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
      { from: '2024-07-01', figures: { minimum: 5000, months: 6, buyers: PUBLIC_BUYERS }, ...WITHHOLDING_2024 },
      { from: '2026-07-01', figures: { minimum: 5000, months: 6, buyers: alsoPrivateFrom(500) }, ...WITHHOLDING_2026 },
      { from: '2027-01-01', figures: { minimum: 5000, months: 6, buyers: alsoPrivateFrom(350) }, ...WITHHOLDING_2026 },
      { from: '2028-01-01', figures: { minimum: 5000, months: 6, buyers: alsoPrivateFrom(200) }, ...WITHHOLDING_2026 },
    ],
    concerns: (document, { minimum }) => withheld(document, minimum),
  }),
  deposit_vat: informationRule({
    status: 'in_force',
    article: null,
    says: {
      fr: 'La TVA d’un acompte est due sur ce qui est encaissé.',
      ar: 'تستحق الضريبة على القيمة المضافة عن التسبيق على المبلغ المستخلص.',
      en: 'VAT on a deposit is due on what is received.',
    },
    periods: always('VATlive', READ_EARLIER),
  }),
} as const;
