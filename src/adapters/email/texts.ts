import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { Kind } from '../../domain/invoice/kinds.ts';
import { DEPOSIT_LABELS } from '../../text/deposit-labels.ts';
import { PAYABLE_LABEL } from '../../text/payable-label.ts';

/** The fixed texts of the mail that carries an invoice or a credit note. */
interface MailTexts {
  readonly test: string;
  readonly testNotice: string;
  /** @param original the number of the invoice that a credit note corrects; empty for an invoice */
  subject(number: string, seller: string, original: string): string;
  readonly greeting: string;
  readonly intro: string;
  readonly introOfTest: string;
  /** Separates a label from its value. */
  readonly colon: string;
  readonly title: string;
  readonly date: string;
  readonly payable: string;
  readonly dueDate: string;
  readonly bankAccount: string;
  readonly paymentReference: string;
  readonly dgiId: string;
  readonly attached: string;
  readonly verify: string;
  automatic(seller: string): string;
}

const INVOICE: Readonly<Record<DocumentLanguage, MailTexts>> = {
  fr: {
    test: 'TEST',
    testNotice: 'Message de test : cette facture n’a aucune valeur légale ni fiscale.',
    subject: (number, seller) => `Facture ${number} de ${seller}`,
    greeting: 'Bonjour,',
    intro: 'Veuillez trouver ci-joint votre facture électronique, acceptée par la Direction générale des impôts.',
    introOfTest: 'Veuillez trouver ci-joint une facture électronique de test, acceptée par une administration simulée.',
    colon: ' : ',
    title: 'Facture',
    date: 'Date d’émission',
    payable: PAYABLE_LABEL.invoice.fr,
    dueDate: 'Date d’échéance',
    bankAccount: 'RIB',
    paymentReference: 'Référence à rappeler',
    dgiId: 'Identifiant DGI',
    attached: 'En pièces jointes : la facture signée au format PDF et le document XML signé, à conserver.',
    verify: 'Vérifier la facture',
    automatic: (seller) => `Envoi automatique pour le compte de ${seller}.`,
  },
  ar: {
    test: 'اختبار',
    testNotice: 'رسالة اختبار: ليست لهذه الفاتورة أي قيمة قانونية أو ضريبية.',
    subject: (number, seller) => `فاتورة \u2068${number}\u2069 من ${seller}`,
    greeting: 'تحية طيبة،',
    intro: 'تجدون رفقته فاتورتكم الإلكترونية المقبولة من طرف المديرية العامة للضرائب.',
    introOfTest: 'تجدون رفقته فاتورة إلكترونية للاختبار، قبلها محاكي الإدارة الضريبية.',
    colon: ': ',
    title: 'الفاتورة',
    date: 'تاريخ الإصدار',
    payable: PAYABLE_LABEL.invoice.ar,
    dueDate: 'تاريخ الاستحقاق',
    bankAccount: 'التعريف البنكي (RIB)',
    paymentReference: 'مرجع الأداء',
    dgiId: 'معرف المديرية العامة للضرائب',
    attached: 'المرفقات: الفاتورة الموقعة بصيغة PDF ووثيقة XML الموقعة، ويجب الاحتفاظ بهما.',
    verify: 'التحقق من الفاتورة',
    automatic: (seller) => `رسالة آلية مرسلة لحساب ${seller}.`,
  },
  en: {
    test: 'TEST',
    testNotice: 'Test message: this invoice has no legal or fiscal value.',
    subject: (number, seller) => `Invoice ${number} from ${seller}`,
    greeting: 'Hello,',
    intro: 'Please find attached your electronic invoice, accepted by the Moroccan tax authority (DGI).',
    introOfTest: 'Please find attached an electronic test invoice, accepted by a simulated authority.',
    colon: ': ',
    title: 'Invoice',
    date: 'Issue date',
    payable: PAYABLE_LABEL.invoice.en,
    dueDate: 'Due date',
    bankAccount: 'Bank account (RIB)',
    paymentReference: 'Payment reference',
    dgiId: 'DGI identifier',
    attached: 'Attached: the signed invoice as PDF and the signed XML document, both to be kept.',
    verify: 'Verify the invoice',
    automatic: (seller) => `Sent automatically on behalf of ${seller}.`,
  },
};

/** The texts of the mail with a credit note that differ from those with an invoice. */
type CreditNoteTexts = Pick<
  MailTexts,
  'testNotice' | 'subject' | 'intro' | 'introOfTest' | 'title' | 'payable' | 'attached' | 'verify'
>;

const CREDIT_NOTE: Readonly<Record<DocumentLanguage, CreditNoteTexts>> = {
  fr: {
    testNotice: 'Message de test : cet avoir n’a aucune valeur légale ni fiscale.',
    subject: (number, seller, original) => `Avoir ${number} sur la facture ${original} de ${seller}`,
    intro:
      'Veuillez trouver ci-joint un avoir électronique en votre faveur, accepté par la Direction générale des impôts.',
    introOfTest:
      'Veuillez trouver ci-joint un avoir électronique de test en votre faveur, accepté par une administration simulée.',
    title: 'Avoir',
    payable: PAYABLE_LABEL.credit_note.fr,
    attached: 'En pièces jointes : l’avoir signé au format PDF et le document XML signé, à conserver.',
    verify: 'Vérifier l’avoir',
  },
  ar: {
    testNotice: 'رسالة اختبار: ليست لهذا الإشعار الدائن أي قيمة قانونية أو ضريبية.',
    subject: (number, seller, original) =>
      `إشعار دائن \u2068${number}\u2069 عن الفاتورة \u2068${original}\u2069 من ${seller}`,
    intro: 'تجدون رفقته إشعارا دائنا إلكترونيا لفائدتكم، مقبولا من طرف المديرية العامة للضرائب.',
    introOfTest: 'تجدون رفقته إشعارا دائنا إلكترونيا للاختبار لفائدتكم، قبله محاكي الإدارة الضريبية.',
    title: 'الإشعار الدائن',
    payable: PAYABLE_LABEL.credit_note.ar,
    attached: 'المرفقات: الإشعار الدائن الموقع بصيغة PDF ووثيقة XML الموقعة، ويجب الاحتفاظ بهما.',
    verify: 'التحقق من الإشعار الدائن',
  },
  en: {
    testNotice: 'Test message: this credit note has no legal or fiscal value.',
    subject: (number, seller, original) => `Credit note ${number} for invoice ${original} from ${seller}`,
    intro:
      'Please find attached an electronic credit note in your favour, accepted by the Moroccan tax authority (DGI).',
    introOfTest:
      'Please find attached an electronic test credit note in your favour, accepted by a simulated authority.',
    title: 'Credit note',
    payable: PAYABLE_LABEL.credit_note.en,
    attached: 'Attached: the signed credit note as PDF and the signed XML document, both to be kept.',
    verify: 'Verify the credit note',
  },
};

/** The subject of the mail with a deposit invoice. */
const DEPOSIT_SUBJECT: Readonly<Record<DocumentLanguage, MailTexts['subject']>> = {
  fr: (number, seller) => `${DEPOSIT_LABELS.fr.title} ${number} de ${seller}`,
  ar: (number, seller) => `${DEPOSIT_LABELS.ar.title} \u2068${number}\u2069 من ${seller}`,
  en: (number, seller) => `${DEPOSIT_LABELS.en.title} ${number} from ${seller}`,
};

/**
 * Returns the fixed texts of the mail with a kind of document in a language.
 * @param isDeposit whether the document asks for a deposit
 */
export function mailTexts(kind: Kind, language: DocumentLanguage, isDeposit = false): MailTexts {
  const texts = INVOICE[language];
  if (isDeposit) return { ...texts, title: DEPOSIT_LABELS[language].title, subject: DEPOSIT_SUBJECT[language] };
  return kind === 'invoice' ? texts : { ...texts, ...CREDIT_NOTE[language] };
}
