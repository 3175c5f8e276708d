import { always, informationRule, READ, READ_EARLIER, warningRule } from './rule.ts';
import { operationOf } from './rule-findings.ts';

const INVOICE_CONTENT = always('flasheconomie.com (DGI, note 17-01-2019); cybadvisory.com 2019-01-04', READ);

/** The rules of the content of an invoice and of its further processing, by code. */
export const CONTENT_RULES = {
  customer_address_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 145-III-4°',
    says: {
      fr: 'La facture mentionne l’adresse de l’acheteur.',
      ar: 'تبين الفاتورة عنوان المشتري.',
      en: 'The invoice states the buyer’s address.',
    },
    warning: {
      description: "An invoice must state the buyer's address (CGI, art. 145-III).",
      remedy: 'Send customer.address.',
    },
    periods: INVOICE_CONTENT,
    concerns: ({ buyer }) => (buyer.address?.trim() ? [] : [{ path: 'customer.address' }]),
  }),
  seller_field_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 145-III',
    says: {
      fr: 'La facture mentionne l’identité et les identifiants du vendeur.',
      ar: 'تبين الفاتورة هوية البائع ومعرفاته.',
      en: 'The invoice states who the seller is, and its identifiers.',
    },
    warning: {
      description: 'The profile lacks mandatory data of the seller; test documents show specimen data instead.',
      remedy: "Complete the tenant's profile.",
    },
    periods: INVOICE_CONTENT,
    concerns: ({ missingSellerFields }) =>
      missingSellerFields.map((field) => ({
        path: `seller.${field}`,
        what: `An invoice must state the seller's ${field}; test documents show specimen data instead.`,
      })),
  }),
  operation_date_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 145-III-3°',
    says: {
      fr: 'La facture mentionne la date de l’opération.',
      ar: 'تبين الفاتورة تاريخ العملية.',
      en: 'The invoice states the date of the operation.',
    },
    warning: {
      description: 'An invoice must state the date of the operation (CGI, art. 145-III).',
      remedy:
        'Send terms.operationDate (GraphQL), or set operationDateIsIssueDate in the profile if it is always the date of the invoice.',
    },
    periods: INVOICE_CONTENT,
    // A deposit is requested before the operation, which has no date then.
    concerns: (document) =>
      document.kind === 'invoice' && !document.isDeposit && operationOf(document).date === null
        ? [{ path: 'terms.operationDate' }]
        : [],
  }),
  payment_reference_missing: warningRule({
    status: 'in_force',
    article: 'CGI, art. 145-III',
    says: {
      fr: 'La facture mentionne les références du paiement.',
      ar: 'تبين الفاتورة مراجع الأداء.',
      en: 'The invoice states the references of its payment.',
    },
    warning: {
      description: 'An invoice must state the references of its payment (CGI, art. 145-III).',
      remedy:
        'Send terms.paymentReference (GraphQL). If the profile has paymentMeans or bankAccount, the reference defaults to the number of the invoice.',
    },
    periods: INVOICE_CONTENT,
    concerns: ({ kind, terms }) =>
      kind === 'invoice' && terms.paymentReference === null ? [{ path: 'terms.paymentReference' }] : [],
  }),
  customer_ice_missing: informationRule({
    status: 'in_force',
    article: 'CGI, art. 145-III-4°',
    says: {
      fr: 'La facture mentionne l’ICE de l’acheteur ; un particulier ou un client étranger n’en a pas.',
      ar: 'تبين الفاتورة التعريف الموحد للمقاولة الخاص بالمشتري؛ وليس للشخص العادي ولا للزبون الأجنبي تعريف.',
      en: 'The invoice states the buyer’s ICE; a private person or a customer abroad has none.',
    },
    doubt: {
      fr: 'Le code exige cet ICE ; la note de la DGI du 17 janvier 2019 dit que l’acheteur peut ne pas le donner et que son absence n’est pas sanctionnée.',
      ar: 'تشترط المدونة هذا التعريف، وتقول مذكرة المديرية العامة للضرائب بتاريخ 17 يناير 2019 إن المشتري غير ملزم بتقديمه وإن غيابه لا عقوبة عليه.',
      en: 'The code requires it; the note of the DGI of 17 January 2019 says that the buyer need not give it and that its absence is not sanctioned.',
    },
    periods: [
      {
        from: '2019-01-01',
        figures: {},
        source: 'cybadvisory.com 2019-01-04; flasheconomie.com (DGI, note 17-01-2019)',
        readOn: READ,
      },
    ],
    concerns: ({ buyer }) => (buyer.kind !== 'company' || buyer.ice ? [] : [{ path: 'customer.ice' }]),
  }),
  foreign_currency: informationRule({
    status: 'in_force',
    article: null,
    says: {
      fr: 'Un montant convenu en devise est indiqué avec son cours et sa valeur en dirhams.',
      ar: 'المبلغ المتفق عليه بعملة أجنبية يبين مع سعر صرفه وقيمته بالدرهم.',
      en: 'An amount agreed on in a foreign currency is stated with its rate and its value in dirhams.',
    },
    periods: always('VATlive; oc.gov.ma', READ_EARLIER),
    concerns: ({ hasForeignValue }) => (hasForeignValue ? [{ path: 'foreignValue' }] : []),
  }),
  records_kept: informationRule({
    status: 'in_force',
    article: 'CGI, art. 211',
    says: {
      fr: 'Les factures sont conservées dix ans.',
      ar: 'تحفظ الفواتير لمدة عشر سنوات.',
      en: 'Invoices are kept for ten years.',
    },
    periods: always('faj.ma', READ_EARLIER),
    concerns: () => [{ path: 'number' }],
  }),
  electronic_clearance: informationRule({
    status: 'announced',
    article: 'CGI, art. 145-IX',
    says: {
      fr: 'La DGI validera chaque facture avant son envoi. Le décret n’est pas publié ; la première phase vise quelque 1 655 entreprises de plus de {turnover} millions de dirhams de chiffre d’affaires.',
      ar: 'ستصادق المديرية العامة للضرائب على كل فاتورة قبل إرسالها. لم ينشر المرسوم بعد، وتهم المرحلة الأولى نحو 1.655 مقاولة يفوق رقم معاملاتها {turnover} مليون درهم.',
      en: 'The DGI will clear each invoice before it is sent. The decree is not published; the first phase concerns some 1,655 companies with a turnover above {turnover} million dirhams.',
    },
    periods: [
      { from: null, figures: { turnover: 200 }, source: 'fr.le360.ma 2026-03-02; consonews 64011', readOn: READ },
    ],
  }),
} as const;
