import type { Kind } from '../../domain/invoice/kinds.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../../domain/invoice/lifecycle.ts';
import type { Texts } from './fr.ts';
import { LANGUAGES, type Language } from './languages.ts';
import { TEXTS } from './texts.ts';

type StatusTexts = Texts['statuses'][InvoiceStatus];
type OfStatuses = Partial<Record<InvoiceStatus, StatusTexts>>;
type Changed = Partial<StatusTexts> & Pick<StatusTexts, 'meaning'>;

/** The texts about a credit note that differ from those about an invoice. */
interface CreditNoteTexts
  extends Pick<
      Texts,
      'loading' | 'refused' | 'invoice' | 'test' | 'payable' | 'pdf' | 'documentsToCome' | 'noDocuments'
    >,
    Partial<Pick<Texts, 'testUnder' | 'customer' | 'pdfUnder' | 'verifyUnder'>> {
  /** These differ only where they agree with the gender of the document. */
  readonly stepNames?: Partial<Texts['stepNames']>;
  readonly invoices: Pick<Texts['invoices'], 'noMail' | 'noDeliveries'>;
  readonly statuses: Readonly<Record<Exclude<InvoiceStatus, 'signing'>, Changed>>;
  readonly sellerStatuses: Readonly<Record<'rejected', Changed>>;
  readonly testStatuses: Readonly<Record<'accepted', Changed>> & Partial<Record<'transmitted', Partial<StatusTexts>>>;
}

const CREDIT_NOTE: Readonly<Record<Language, CreditNoteTexts>> = {
  fr: {
    loading: 'Lecture de l’avoir…',
    refused: 'Cet avoir ne peut pas être affiché',
    invoice: 'Avoir',
    test: 'Avoir de test',
    customer: 'Client',
    payable: 'Montant en votre faveur',
    pdf: 'Avoir PDF',
    pdfUnder: 'Signé, prêt à imprimer',
    documentsToCome:
      'Le PDF et le XML signé seront disponibles ici dès que l’administration fiscale aura accepté l’avoir.',
    noDocuments: 'Un avoir rejeté n’a pas de documents.',
    invoices: {
      noMail: 'Pas d’e-mail : le client n’a pas d’adresse, ou l’avoir n’est pas encore accepté.',
      noDeliveries: 'Aucune destination n’a reçu d’événement de cet avoir.',
    },
    stepNames: {
      pending: 'Reçu',
      transmitted: 'Transmis',
      accepted: 'Accepté',
      rejected: 'Rejeté',
    },
    statuses: {
      pending: {
        headline: 'Avoir reçu',
        meaning: 'Le service de facturation a enregistré l’avoir et prépare le document électronique.',
      },
      transmitted: {
        headline: 'Transmis à l’administration fiscale',
        meaning: 'La Direction générale des impôts a reçu l’avoir. Sa décision est attendue.',
      },
      accepted: {
        headline: 'Accepté par l’administration fiscale',
        meaning: 'L’avoir est valable. Vous pouvez en télécharger les documents signés.',
      },
      rejected: {
        headline: 'Avoir rejeté',
        meaning: 'Cet avoir n’est pas valable. Attendez de votre fournisseur un avoir corrigé.',
      },
    },
    sellerStatuses: {
      rejected: {
        headline: 'Avoir rejeté',
        meaning:
          'Cet avoir n’est pas valable et ne peut pas être renvoyé. Corrigez ce que le motif indique, puis émettez un nouvel avoir\u00a0; le numéro de celui-ci reste pris.',
      },
    },
    testStatuses: {
      transmitted: { headline: 'Transmis à l’administration simulée' },
      accepted: {
        headline: 'Accepté par l’administration simulée',
        meaning: 'Le test est concluant. Cet avoir reste sans valeur ; ses documents signés sont des spécimens.',
      },
    },
  },
  en: {
    loading: 'Reading the credit note…',
    refused: 'This credit note cannot be shown',
    invoice: 'Credit note',
    test: 'Test credit note',
    customer: 'Customer',
    payable: 'Amount in your favour',
    pdf: 'PDF credit note',
    documentsToCome:
      'The PDF and the signed XML will be available here as soon as the tax authority has accepted the credit note.',
    noDocuments: 'A rejected credit note has no documents.',
    invoices: {
      noMail: 'No e-mail: the customer has no address, or the credit note is not accepted yet.',
      noDeliveries: 'No endpoint has received an event of this credit note.',
    },
    statuses: {
      pending: {
        headline: 'Credit note received',
        meaning: 'The invoicing service has recorded the credit note and is preparing the electronic document.',
      },
      transmitted: {
        meaning: 'The Moroccan tax authority (DGI) has received the credit note. Its decision is awaited.',
      },
      accepted: { meaning: 'The credit note is valid. You can download its signed documents.' },
      rejected: {
        headline: 'Credit note rejected',
        meaning: 'This credit note is not valid. Wait for a corrected credit note from your supplier.',
      },
    },
    sellerStatuses: {
      rejected: {
        headline: 'Credit note rejected',
        meaning:
          'This credit note is not valid, and it cannot be sent again. Correct what the reason names, then issue a new credit note; the number of this one stays used.',
      },
    },
    testStatuses: {
      accepted: {
        meaning: 'The test succeeded. This credit note has no value; its signed documents are specimens.',
      },
    },
  },
  ar: {
    loading: 'جارٍ تحميل الإشعار الدائن…',
    refused: 'لا يمكن عرض هذا الإشعار الدائن',
    invoice: 'إشعار دائن',
    test: 'إشعار دائن للاختبار',
    testUnder: 'ليست له أي قيمة قانونية أو ضريبية: القرار لمحاكي الإدارة الضريبية.',
    payable: 'المبلغ المستحق لفائدتكم',
    pdf: 'الإشعار الدائن PDF',
    pdfUnder: 'موقع وجاهز للطباعة',
    verifyUnder: 'المُصدر وصحة الإشعار الدائن',
    documentsToCome: 'سيكون ملف PDF وملف XML الموقع متاحين هنا فور قبول الإدارة الضريبية للإشعار الدائن.',
    noDocuments: 'ليست للإشعار الدائن المرفوض وثائق.',
    invoices: {
      noMail: 'لا يوجد بريد: ليس للزبون عنوان، أو لم يُقبل الإشعار الدائن بعد.',
      noDeliveries: 'لم تتوصل أي نقطة استقبال بحدث من هذا الإشعار الدائن.',
    },
    stepNames: {
      pending: 'مُستلم',
      transmitted: 'مُرسل',
      accepted: 'مقبول',
      rejected: 'مرفوض',
    },
    statuses: {
      pending: {
        headline: 'تم استلام الإشعار الدائن',
        meaning: 'سجلت خدمة الفوترة الإشعار الدائن وهي تُعِدّ الوثيقة الإلكترونية.',
      },
      transmitted: {
        headline: 'أُرسل إلى الإدارة الضريبية',
        meaning: 'توصلت المديرية العامة للضرائب بالإشعار الدائن، وقرارها منتظر.',
      },
      accepted: {
        headline: 'قبلته الإدارة الضريبية',
        meaning: 'الإشعار الدائن صالح. يمكنكم تحميل وثائقه الموقعة.',
      },
      rejected: {
        headline: 'الإشعار الدائن مرفوض',
        meaning: 'هذا الإشعار الدائن غير صالح. انتظروا إشعارا دائنا مصححا من المورد.',
      },
    },
    sellerStatuses: {
      rejected: {
        headline: 'الإشعار الدائن مرفوض',
        meaning:
          'هذا الإشعار الدائن غير صالح ولا يمكن إرساله من جديد. صححوا ما يذكره السبب ثم أصدروا إشعارا دائنا جديدا؛ ويبقى رقم هذا الإشعار مستعملا.',
      },
    },
    testStatuses: {
      transmitted: { headline: 'أُرسل إلى محاكي الإدارة' },
      accepted: {
        headline: 'قبله محاكي الإدارة',
        meaning: 'نجح الاختبار. ليست لهذا الإشعار الدائن أي قيمة، ووثائقه الموقعة مجرد نماذج.',
      },
    },
  },
};

/** The texts of pages about one document, by its kind. */
export const DOCUMENT_TEXTS: Readonly<Record<Kind, Readonly<Record<Language, Texts>>>> = {
  invoice: TEXTS,
  credit_note: Object.fromEntries(
    LANGUAGES.map((language) => [language, changed(TEXTS[language], CREDIT_NOTE[language])]),
  ) as Record<Language, Texts>,
};

function changed(texts: Texts, changes: CreditNoteTexts): Texts {
  return {
    ...texts,
    ...changes,
    invoices: { ...texts.invoices, ...changes.invoices },
    stepNames: { ...texts.stepNames, ...changes.stepNames },
    statuses: changedStatuses(texts.statuses, changes.statuses),
    sellerStatuses: changedStatuses(texts.sellerStatuses, changes.sellerStatuses),
    testStatuses: changedStatuses(texts.testStatuses, changes.testStatuses),
  };
}

function changedStatuses<Some extends OfStatuses>(
  texts: Some,
  changes: Partial<Record<InvoiceStatus, Partial<StatusTexts>>>,
): Some {
  const entries = INVOICE_STATUSES.filter((status) => texts[status]).map((status) => [
    status,
    { ...texts[status], ...changes[status] },
  ]);
  return Object.fromEntries(entries) as Some;
}
