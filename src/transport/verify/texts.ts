import type { DocumentLanguage } from '../../domain/document-language.ts';
import type { PublicDocument, PublicFacts } from '../../domain/invoice/verify-publicly.ts';
import { PAYABLE_LABEL } from '../../text/payable-label.ts';

/** The texts of the page that verifies an invoice or a credit note. */
export interface VerifyTexts {
  /** The name of the language in that language. */
  readonly language: string;
  /** The name of the links to the languages. */
  readonly languages: string;
  readonly title: string;
  readonly accepted: string;
  readonly acceptedUnder: string;
  readonly test: string;
  readonly testUnder: string;
  readonly number: string;
  readonly seller: string;
  readonly ice: string;
  readonly date: string;
  readonly payable: string;
  readonly dgiId: string;
  readonly acceptedAt: string;
  readonly receipt: string;
  readonly receiptVerified: string;
  /** When the authority decided, as its receipt states. */
  readonly decidedAt: string;
  readonly compare: string;
  readonly checkTitle: string;
  readonly checkHow: string;
  readonly checkPrivate: string;
  readonly checkSent: string;
  readonly choose: string;
  readonly check: string;
  readonly samePdf: string;
  readonly sameXml: string;
  readonly sameReceipt: string;
  readonly same: string;
  readonly other: string;
  readonly otherUnder: string;
  readonly failed: string;
  readonly noFile: string;
  readonly tooLarge: string;
  readonly digests: string;
  readonly digestOf: Readonly<Record<PublicDocument['kind'], string>>;
  readonly unknown: string;
  readonly unknownUnder: string;
  readonly foot: string;
}

const INVOICE: Readonly<Record<DocumentLanguage, VerifyTexts>> = {
  fr: {
    language: 'Français',
    languages: 'Langue',
    title: 'Vérification de la facture',
    accepted: 'Facture authentique',
    acceptedUnder: 'Émise par ce service et acceptée par la Direction générale des impôts.',
    test: 'Facture de test',
    testUnder:
      'Sans valeur légale ni fiscale : une administration simulée l’a acceptée, et le vendeur n’est pas vérifié.',
    number: 'Facture n°',
    seller: 'Vendeur',
    ice: 'ICE',
    date: 'Date d’émission',
    payable: PAYABLE_LABEL.invoice.fr,
    dgiId: 'Identifiant DGI',
    acceptedAt: 'Acceptée le',
    receipt: 'Reçu de l’administration',
    receiptVerified: 'vérifié',
    decidedAt: 'Décision du',
    compare: 'Comparez ces mentions à celles de votre document.',
    checkTitle: 'Votre fichier est-il intact ?',
    checkHow: 'Choisissez ou déposez ici le PDF ou le XML que vous avez reçu.',
    checkPrivate: 'Le fichier est examiné par votre navigateur, il n’est pas envoyé.',
    checkSent: 'Le fichier est envoyé à ce service, qui en calcule l’empreinte et ne le conserve pas.',
    choose: 'Choisir un fichier',
    check: 'Vérifier le fichier',
    samePdf: 'C’est le PDF signé de cette facture.',
    sameXml: 'C’est le document XML signé de cette facture.',
    sameReceipt: 'C’est le reçu signé de l’administration fiscale pour cette facture.',
    same: 'Fichier intact',
    other: 'Ce n’est pas un document de cette facture',
    otherUnder: 'Le fichier a été modifié, enregistré à nouveau, ou il s’agit d’un autre document.',
    failed: 'Le fichier n’a pas pu être lu. Réessayez.',
    noFile: 'Choisissez d’abord un fichier.',
    tooLarge: 'Le fichier est trop volumineux pour être un document de cette facture.',
    digests: 'Empreintes SHA-256',
    digestOf: { pdf: 'PDF signé', xml: 'XML signé', receipt: 'Reçu de l’administration' },
    unknown: 'Document inconnu',
    unknownUnder:
      'Aucune facture et aucun avoir acceptés ne correspondent à cette adresse. Vérifiez qu’elle est complète.',
    foot: 'Cette page ne montre rien de l’acheteur ni du détail de la facture.',
  },
  ar: {
    language: 'العربية',
    languages: 'اللغة',
    title: 'التحقق من الفاتورة',
    accepted: 'فاتورة صحيحة',
    acceptedUnder: 'صادرة عن هذه الخدمة ومقبولة من طرف المديرية العامة للضرائب.',
    test: 'فاتورة اختبار',
    testUnder: 'ليست لها أي قيمة قانونية أو ضريبية: قبلها محاكي الإدارة الضريبية، ولم يتم التحقق من البائع.',
    number: 'فاتورة رقم',
    seller: 'البائع',
    ice: 'التعريف الموحد للمقاولة (ICE)',
    date: 'تاريخ الإصدار',
    payable: PAYABLE_LABEL.invoice.ar,
    dgiId: 'معرف المديرية العامة للضرائب',
    acceptedAt: 'تاريخ القبول',
    receipt: 'وصل الإدارة',
    receiptVerified: 'تم التحقق منه',
    decidedAt: 'تاريخ القرار',
    compare: 'قارنوا هذه البيانات بما ورد في وثيقتكم.',
    checkTitle: 'هل ملفكم سليم؟',
    checkHow: 'اختاروا أو ضعوا هنا ملف PDF أو XML الذي توصلتم به.',
    checkPrivate: 'يفحص متصفحكم الملف دون إرساله.',
    checkSent: 'يُرسل الملف إلى هذه الخدمة لحساب بصمته، ولا يُحتفظ به.',
    choose: 'اختيار ملف',
    check: 'التحقق من الملف',
    samePdf: 'هذا هو ملف PDF الموقع لهذه الفاتورة.',
    sameXml: 'هذه هي وثيقة XML الموقعة لهذه الفاتورة.',
    sameReceipt: 'هذا هو الوصل الموقع للإدارة الضريبية لهذه الفاتورة.',
    same: 'ملف سليم',
    other: 'ليس هذا الملف من وثائق هذه الفاتورة',
    otherUnder: 'تم تغيير الملف أو حفظه من جديد، أو هو وثيقة أخرى.',
    failed: 'تعذرت قراءة الملف. أعيدوا المحاولة.',
    noFile: 'اختاروا ملفا أولا.',
    tooLarge: 'الملف أكبر من أن يكون وثيقة من وثائق هذه الفاتورة.',
    digests: 'بصمات SHA-256',
    digestOf: { pdf: 'PDF الموقع', xml: 'XML الموقع', receipt: 'وصل الإدارة' },
    unknown: 'وثيقة غير معروفة',
    unknownUnder: 'لا توجد بهذا العنوان فاتورة مقبولة ولا إشعار دائن مقبول. تأكدوا من أنه كامل.',
    foot: 'لا تعرض هذه الصفحة شيئا عن المشتري ولا عن تفاصيل الفاتورة.',
  },
  en: {
    language: 'English',
    languages: 'Language',
    title: 'Invoice verification',
    accepted: 'Genuine invoice',
    acceptedUnder: 'Issued by this service and accepted by the Moroccan tax authority (DGI).',
    test: 'Test invoice',
    testUnder: 'Without legal or fiscal value: a simulated authority accepted it, and the seller is not verified.',
    number: 'Invoice no.',
    seller: 'Seller',
    ice: 'ICE',
    date: 'Issue date',
    payable: PAYABLE_LABEL.invoice.en,
    dgiId: 'DGI identifier',
    acceptedAt: 'Accepted on',
    receipt: 'Receipt of the authority',
    receiptVerified: 'verified',
    decidedAt: 'Decided on',
    compare: 'Compare this information with your document.',
    checkTitle: 'Is your file unchanged?',
    checkHow: 'Choose or drop here the PDF or the XML that you received.',
    checkPrivate: 'Your browser examines the file; it is not sent.',
    checkSent: 'The file is sent to this service, which computes its digest and does not keep it.',
    choose: 'Choose a file',
    check: 'Check the file',
    samePdf: 'It is the signed PDF of this invoice.',
    sameXml: 'It is the signed XML document of this invoice.',
    sameReceipt: 'It is the signed receipt of the tax authority for this invoice.',
    same: 'Unchanged file',
    other: 'Not a document of this invoice',
    otherUnder: 'The file was changed or saved again, or it is another document.',
    failed: 'The file could not be read. Try again.',
    noFile: 'Choose a file first.',
    tooLarge: 'The file is too large to be a document of this invoice.',
    digests: 'SHA-256 digests',
    digestOf: { pdf: 'Signed PDF', xml: 'Signed XML', receipt: 'Receipt of the authority' },
    unknown: 'Unknown document',
    unknownUnder: 'There is no accepted invoice or credit note at this address. Check that it is complete.',
    foot: 'This page does not show the buyer or the lines of the invoice.',
  },
};

/** The texts of a credit note that differ from those of an invoice. */
type CreditNoteTexts = Pick<
  VerifyTexts,
  | 'title'
  | 'accepted'
  | 'test'
  | 'number'
  | 'payable'
  | 'samePdf'
  | 'sameXml'
  | 'sameReceipt'
  | 'other'
  | 'tooLarge'
  | 'foot'
> &
  Partial<Pick<VerifyTexts, 'acceptedUnder' | 'testUnder' | 'acceptedAt'>>;

const CREDIT_NOTE: Readonly<Record<DocumentLanguage, CreditNoteTexts>> = {
  fr: {
    title: 'Vérification de l’avoir',
    accepted: 'Avoir authentique',
    acceptedUnder: 'Émis par ce service et accepté par la Direction générale des impôts.',
    test: 'Avoir de test',
    testUnder:
      'Sans valeur légale ni fiscale : une administration simulée l’a accepté, et le vendeur n’est pas vérifié.',
    number: 'Avoir n°',
    payable: PAYABLE_LABEL.credit_note.fr,
    acceptedAt: 'Accepté le',
    samePdf: 'C’est le PDF signé de cet avoir.',
    sameXml: 'C’est le document XML signé de cet avoir.',
    sameReceipt: 'C’est le reçu signé de l’administration fiscale pour cet avoir.',
    other: 'Ce n’est pas un document de cet avoir',
    tooLarge: 'Le fichier est trop volumineux pour être un document de cet avoir.',
    foot: 'Cette page ne montre rien de l’acheteur ni du détail de l’avoir.',
  },
  ar: {
    title: 'التحقق من الإشعار الدائن',
    accepted: 'إشعار دائن صحيح',
    acceptedUnder: 'صادر عن هذه الخدمة ومقبول من طرف المديرية العامة للضرائب.',
    test: 'إشعار دائن للاختبار',
    testUnder: 'ليست له أي قيمة قانونية أو ضريبية: قبله محاكي الإدارة الضريبية، ولم يتم التحقق من البائع.',
    number: 'إشعار دائن رقم',
    payable: PAYABLE_LABEL.credit_note.ar,
    samePdf: 'هذا هو ملف PDF الموقع لهذا الإشعار الدائن.',
    sameXml: 'هذه هي وثيقة XML الموقعة لهذا الإشعار الدائن.',
    sameReceipt: 'هذا هو الوصل الموقع للإدارة الضريبية لهذا الإشعار الدائن.',
    other: 'ليس هذا الملف من وثائق هذا الإشعار الدائن',
    tooLarge: 'الملف أكبر من أن يكون وثيقة من وثائق هذا الإشعار الدائن.',
    foot: 'لا تعرض هذه الصفحة شيئا عن المشتري ولا عن تفاصيل الإشعار الدائن.',
  },
  en: {
    title: 'Credit note verification',
    accepted: 'Genuine credit note',
    test: 'Test credit note',
    number: 'Credit note no.',
    payable: PAYABLE_LABEL.credit_note.en,
    samePdf: 'It is the signed PDF of this credit note.',
    sameXml: 'It is the signed XML document of this credit note.',
    sameReceipt: 'It is the signed receipt of the tax authority for this credit note.',
    other: 'Not a document of this credit note',
    tooLarge: 'The file is too large to be a document of this credit note.',
    foot: 'This page does not show the buyer or the lines of the credit note.',
  },
};

/** The texts for a deposit invoice that differ from those for an invoice. */
const DEPOSIT: Readonly<Record<DocumentLanguage, Pick<VerifyTexts, 'accepted' | 'test' | 'number'>>> = {
  fr: {
    accepted: 'Facture d’acompte authentique',
    test: 'Facture d’acompte de test',
    number: 'Facture d’acompte n°',
  },
  ar: { accepted: 'فاتورة تسبيق صحيحة', test: 'فاتورة تسبيق للاختبار', number: 'فاتورة تسبيق رقم' },
  en: { accepted: 'Genuine deposit invoice', test: 'Test deposit invoice', number: 'Deposit invoice no.' },
};

/** Returns the texts for a document in a language. */
export function verifyTexts(
  { kind, isDeposit }: Pick<PublicFacts, 'kind' | 'isDeposit'>,
  language: DocumentLanguage,
): VerifyTexts {
  const texts = INVOICE[language];
  if (isDeposit) return { ...texts, ...DEPOSIT[language] };
  return kind === 'invoice' ? texts : { ...texts, ...CREDIT_NOTE[language] };
}

/** Returns the texts that are the same for all kinds of documents. */
export function commonTexts(
  language: DocumentLanguage,
): Pick<VerifyTexts, 'language' | 'languages' | 'unknown' | 'unknownUnder'> {
  return INVOICE[language];
}
