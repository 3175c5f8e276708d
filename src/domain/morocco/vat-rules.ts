import { RATE_PERIODS } from './rate-periods.ts';
import { always, informationRule, READ, READ_EARLIER, warningRule } from './rule.ts';
import { firstOfRates, lacksCertificate, needsProfileReason } from './rule-findings.ts';

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
  deposit_vat: informationRule({
    status: 'in_force',
    article: null,
    says: {
      fr: 'La TVA d’un acompte est due sur ce qui est encaissé.',
      ar: 'تستحق الضريبة على القيمة المضافة عن التسبيق على المبلغ المستخلص.',
      en: 'VAT on a deposit is due on what is received.',
    },
    periods: always('VATlive', READ_EARLIER),
    concerns: ({ isDeposit }) => (isDeposit ? [{ path: 'isDeposit' }] : []),
  }),
} as const;
