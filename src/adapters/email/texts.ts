import type { DocumentLanguage } from '../../domain/document-language.ts';
import { PAYABLE_LABEL } from '../../text/payable-label.ts';

/** The fixed texts of the mail that carries an invoice. */
export interface MailTexts {
  readonly test: string;
  readonly testNotice: string;
  subject(number: string, seller: string): string;
  readonly greeting: string;
  readonly intro: string;
  readonly introOfTest: string;
  /** Separates a label from its value. */
  readonly colon: string;
  readonly invoice: string;
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

export const MAIL_TEXTS: Readonly<Record<DocumentLanguage, MailTexts>> = {
  fr: {
    test: 'TEST',
    testNotice: 'Message de test : cette facture n’a aucune valeur légale ni fiscale.',
    subject: (number, seller) => `Facture ${number} de ${seller}`,
    greeting: 'Bonjour,',
    intro: 'Veuillez trouver ci-joint votre facture électronique, acceptée par la Direction générale des impôts.',
    introOfTest: 'Veuillez trouver ci-joint une facture électronique de test, acceptée par une administration simulée.',
    colon: ' : ',
    invoice: 'Facture',
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
    testNotice: 'رسالة اختبار: ليست لهذه الفاتورة أي قيمة قانونية أو جبائية.',
    subject: (number, seller) => `فاتورة \u2068${number}\u2069 من ${seller}`,
    greeting: 'تحية طيبة،',
    intro: 'تجدون رفقته فاتورتكم الإلكترونية المقبولة من طرف المديرية العامة للضرائب.',
    introOfTest: 'تجدون رفقته فاتورة إلكترونية للاختبار، قبلتها إدارة محاكاة.',
    colon: ': ',
    invoice: 'الفاتورة',
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
    invoice: 'Invoice',
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
