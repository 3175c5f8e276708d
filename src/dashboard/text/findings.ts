import type { Draft } from '../drafts/documents.ts';
import type { Language } from './languages.ts';

type WarningCode = Draft['validation']['warnings'][number]['code'];

/** The warnings about an invoice, in words for those who write it. */
export const WARNING_TEXTS: Readonly<Record<WarningCode, Readonly<Record<Language, string>>>> = {
  rounding: {
    fr: 'Le montant diffère de quelques centimes du total des lignes\u00a0: la facture indique l’écart.',
    en: 'The amount differs by some centimes from the total of the lines: the invoice states the difference.',
    ar: 'يختلف المبلغ ببضعة سنتيمات عن مجموع السطور، وتبين الفاتورة الفرق.',
  },
  ice_zero: {
    fr: 'L’ICE ne contient que des zéros\u00a0: ce n’est celui d’aucune entreprise.',
    en: 'The ICE is all zeros: no company has it.',
    ar: 'يتكون ICE من أصفار فقط: لا تحمله أي مقاولة.',
  },
  ice_check_key: {
    fr: 'La clé de contrôle de l’ICE (ses deux derniers chiffres) ne correspond pas\u00a0: vérifiez-le.',
    en: 'The check key of the ICE (its last two digits) does not match: check it.',
    ar: 'مفتاح التحقق في ICE (آخر رقمين) لا يطابقه: تحققوا منه.',
  },
  customer_is_seller: {
    fr: 'L’ICE du client est le vôtre.',
    en: 'The ICE of the customer is your own.',
    ar: 'رقم ICE الخاص بالزبون هو رقمكم.',
  },
  customer_address_missing: {
    fr: 'L’adresse du client manque (CGI, art. 145-III).',
    en: 'The customer’s address is missing (CGI, art. 145-III).',
    ar: 'عنوان الزبون ناقص (المدونة العامة للضرائب، المادة 145-III).',
  },
  seller_field_missing: {
    fr: 'Une mention obligatoire du vendeur manque.',
    en: 'Mandatory data of the seller is missing.',
    ar: 'ينقص بيان إلزامي عن البائع.',
  },
  exemption_reason_missing: {
    fr: 'Les lignes à 0\u00a0% n’ont pas de motif d’exonération (CGI, art. 91 et 92).',
    en: 'The lines at 0% have no reason of their exemption (CGI, art. 91 and 92).',
    ar: 'لا سبب للإعفاء في السطور بنسبة 0% (المدونة العامة للضرائب، المادتان 91 و92).',
  },
  operation_date_missing: {
    fr: 'La date de l’opération manque (CGI, art. 145-III).',
    en: 'The date of the operation is missing (CGI, art. 145-III).',
    ar: 'تاريخ العملية ناقص (المدونة العامة للضرائب، المادة 145-III).',
  },
  due_date_missing: {
    fr: 'L’échéance manque\u00a0: sans accord entre les parties, elle est de 60 jours (loi 69-21).',
    en: 'The due date is missing: if the parties agreed on none, it is after 60 days (law 69-21).',
    ar: 'أجل الأداء ناقص: إن لم يتفق الطرفان عليه فهو 60 يوما (القانون 69-21).',
  },
  due_date_late: {
    fr: 'L’échéance dépasse le plus long délai permis par la loi 69-21.',
    en: 'The due date is beyond the longest term that law 69-21 allows.',
    ar: 'يتجاوز أجل الأداء أطول مدة يسمح بها القانون 69-21.',
  },
  tax_rate_not_in_force: {
    fr: 'Un taux de TVA n’est pas en vigueur à la date de la facture.',
    en: 'A rate of VAT is not in force on the date of the invoice.',
    ar: 'نسبة من نسب الضريبة غير سارية في تاريخ الفاتورة.',
  },
  exemption_article_missing: {
    fr: 'Le motif de l’exonération ne cite aucun article de la loi.',
    en: 'The reason of the exemption names no article of the law.',
    ar: 'سبب الإعفاء لا يذكر أي مادة من القانون.',
  },
  exemption_certificate_missing: {
    fr: 'Une ligne est vendue en suspension de la TVA sans l’attestation de l’acheteur.',
    en: 'A line is sold under suspension of VAT without the certificate of the buyer.',
    ar: 'سطر مبيع مع وقف استيفاء الضريبة على القيمة المضافة دون شهادة المشتري.',
  },
  invoiced_after_month_end: {
    fr: 'L’opération est d’un mois antérieur\u00a0: le délai de paiement court de la fin de ce mois (loi 69-21).',
    en: 'The operation is of an earlier month: the term of payment counts from its end (law 69-21).',
    ar: 'العملية من شهر سابق: يحتسب أجل الأداء ابتداء من نهايته (القانون 69-21).',
  },
  cash_fine: {
    fr: 'Une telle somme encaissée en espèces expose à une amende (CGI, art. 193).',
    en: 'Taking so much in cash is fined (CGI, art. 193).',
    ar: 'استخلاص مثل هذا المبلغ نقدا يعرض لغرامة (المدونة العامة للضرائب، المادة 193).',
  },
  withholding_not_in_force: {
    fr: 'À la date de la facture, l’acheteur ne retient pas encore la TVA.',
    en: 'On the date of the invoice the buyer does not withhold VAT yet.',
    ar: 'في تاريخ الفاتورة لا يحجز المشتري بعد الضريبة على القيمة المضافة.',
  },
  withholding_below_minimum: {
    fr: 'La TVA d’une facture d’un si petit montant n’est pas retenue.',
    en: 'No VAT is withheld of an invoice that is so small.',
    ar: 'لا تحجز الضريبة من فاتورة بهذا المبلغ الصغير.',
  },
  withholding_by_no_company: {
    fr: 'Un particulier ou un client étranger ne retient pas la TVA.',
    en: 'A private person or a customer abroad withholds no VAT.',
    ar: 'لا يحجز الشخص العادي ولا الزبون الأجنبي الضريبة.',
  },
  withholding_percent_unknown: {
    fr: 'La loi ne connaît pas une telle part de TVA retenue\u00a0: vérifiez-la.',
    en: 'The law does not know such a share of VAT that is withheld: check it.',
    ar: 'لا يعرف القانون هذه النسبة من الضريبة المحجوزة: تحققوا منها.',
  },
  withholding_certificate_missing: {
    fr: 'Cette retenue suppose votre attestation de régularité fiscale.',
    en: 'Withholding this share rests on your certificate of tax regularity.',
    ar: 'يفترض هذا الحجز شهادة سلامة وضعيتكم الجبائية.',
  },
  withholding_certificate_old: {
    fr: 'L’attestation de régularité fiscale est trop ancienne.',
    en: 'The certificate of tax regularity is too old.',
    ar: 'شهادة سلامة الوضعية الجبائية قديمة جدا.',
  },
  payment_means_missing: {
    fr: 'Le moyen de paiement n’est indiqué qu’en toutes lettres\u00a0: les logiciels ne peuvent pas le lire.',
    en: 'The means of payment is stated in words only, which programs cannot read.',
    ar: 'وسيلة الأداء مذكورة بالكلمات فقط، ولا تستطيع البرامج قراءتها.',
  },
  payment_reference_missing: {
    fr: 'La référence du paiement manque (CGI, art. 145-III).',
    en: 'The reference of the payment is missing (CGI, art. 145-III).',
    ar: 'مرجع الأداء ناقص (المدونة العامة للضرائب، المادة 145-III).',
  },
  bank_account_missing: {
    fr: 'La facture est payable par virement, mais n’indique aucun compte.',
    en: 'The invoice is to be paid by bank transfer but states no account.',
    ar: 'تُؤدى الفاتورة بتحويل بنكي لكنها لا تذكر أي حساب.',
  },
  unprintable_characters: {
    fr: 'Un texte contient des caractères que le PDF ne peut pas montrer\u00a0: écrivez-le aussi en lettres latines ou arabes.',
    en: 'A text has characters that the PDF cannot show: write it in Latin or Arabic letters as well.',
    ar: 'يحتوي نص على حروف لا يستطيع ملف PDF إظهارها: اكتبوه أيضا بحروف لاتينية أو عربية.',
  },
};

const fr = {
  /** Of a field that is empty. */
  empty: 'Remplissez ce champ.',
  /** Of a field whose value the service does not accept. */
  invalid: 'Cette valeur n’est pas valable.',
  /** Precedes the values that a field takes. */
  accepted: 'Valeurs admises\u00a0:',
  /** Precedes the link to the settings. */
  profile: 'Le profil du vendeur est incomplet ou à vérifier\u00a0:',
};

const en: typeof fr = {
  empty: 'Fill in this field.',
  invalid: 'This value is not valid.',
  accepted: 'Accepted values:',
  profile: 'The seller’s profile is incomplete or has to be checked:',
};

const ar: typeof fr = {
  empty: 'املؤوا هذه الخانة.',
  invalid: 'هذه القيمة غير صالحة.',
  accepted: 'القيم المقبولة:',
  profile: 'ملف البائع غير مكتمل أو يحتاج إلى تحقق:',
};

/** The texts around findings about an invoice. */
export type FindingTexts = typeof fr;

export const FINDING_TEXTS: Readonly<Record<Language, FindingTexts>> = { fr, en, ar };
