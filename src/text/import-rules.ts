import type { DocumentLanguage } from '../domain/document-language.ts';

type Texts = Readonly<Record<DocumentLanguage, string>>;

const ONE_LINE_50: Texts = {
  fr: 'Un texte d’une ligne, 50 caractères au plus.',
  ar: 'نص من سطر واحد، لا يتجاوز عدد حروفه 50.',
  en: 'A text of one line with at most 50 characters.',
};
const DATE: Texts = {
  fr: 'Une date du calendrier, comme 31/01/2026.',
  ar: 'تاريخ صحيح مثل 31/01/2026.',
  en: 'A date of the calendar, such as 2026-01-31.',
};
const PERIOD: Texts = {
  fr: 'Le début et la fin de la prestation vont ensemble, et la fin ne précède pas le début.',
  ar: 'بداية الخدمة ونهايتها تُذكران معا، ولا تسبق النهاية البداية.',
  en: 'The first and the last day of the service go together, and the last one is not before the first.',
};
const CERTIFICATE: Texts = {
  fr: 'Le numéro et la date de l’attestation vont ensemble.',
  ar: 'رقم الشهادة وتاريخها يُذكران معا.',
  en: 'The number and the date of the certificate go together.',
};
const PERCENT: Texts = {
  fr: 'Un pourcentage au-dessus de 0, 100 au plus, avec deux décimales au plus.',
  ar: 'نسبة أكبر من 0 ولا تتجاوز 100، برقمين عشريين على الأكثر.',
  en: 'A percentage above 0, at most 100, with at most two decimals.',
};

/**
 * The rules of fields, for what the API refuses with `invalid_request`: its own messages are in English and name fields
 * of the API. By the dotted path of the field, with `line` for one of the lines; a record's rule is that of its members.
 */
const FIELD_RULES: Readonly<Record<string, Texts>> = {
  number: {
    fr: 'Un numéro a 50 caractères au plus\u00a0: des lettres sans accent et des chiffres, entre eux des espaces simples et les signes . / _ -. Les numéros comme 2026-000123 sont réservés au service.',
    ar: 'لا يتجاوز عدد حروف الرقم 50: حروف لاتينية بدون علامات وأرقام، وبينها مسافات مفردة أو الرموز . / _ -. الأرقام مثل 2026-000123 محجوزة للخدمة.',
    en: 'A number has at most 50 characters: letters A to Z and digits, and between them single spaces and . / _ -. Numbers such as 2026-000123 are those of the service.',
  },
  'customer.name': {
    fr: 'Le nom est obligatoire, 200 caractères au plus.',
    ar: 'الاسم إلزامي، ولا يتجاوز عدد حروفه 200.',
    en: 'The name is required, with at most 200 characters.',
  },
  'customer.ice': {
    fr: 'Une entreprise au Maroc a un ICE de 15 chiffres. Un particulier ou un client à l’étranger n’en a pas\u00a0: indiquez alors le type de client.',
    ar: 'لكل مقاولة في المغرب ICE من 15 رقما. أما الشخص العادي والزبون في الخارج فليس لهما ICE: اذكروا عندئذ نوع الزبون.',
    en: 'A company in Morocco has an ICE of 15 digits. A private person or a customer abroad has none: then state the type of customer.',
  },
  'customer.address': {
    fr: 'Une adresse de 500 caractères au plus.',
    ar: 'عنوان لا يتجاوز عدد حروفه 500.',
    en: 'An address with at most 500 characters.',
  },
  'customer.email': {
    fr: 'Une seule adresse e-mail, comme compta@exemple.ma.',
    ar: 'عنوان بريد إلكتروني واحد مثل compta@exemple.ma.',
    en: 'One e-mail address, such as accounts@example.com.',
  },
  'customer.country': {
    fr: 'Un client à l’étranger a un pays, les autres n’en ont pas.',
    ar: 'يُذكر البلد للزبون في الخارج وحده، وهو إلزامي له.',
    en: 'A customer abroad has a country, others have none.',
  },
  'customer.taxNumber': {
    fr: 'Seul un client à l’étranger a un numéro fiscal, de 50 caractères au plus.',
    ar: 'الرقم الضريبي للزبون في الخارج وحده، ولا يتجاوز عدد حروفه 50.',
    en: 'Only a customer abroad has a tax number, with at most 50 characters.',
  },
  lines: {
    fr: 'Une facture a de 1 à 1000 lignes, et son total reste dans les limites.',
    ar: 'عدد سطور الفاتورة من 1 إلى 1000، ومجموعها ضمن الحدود.',
    en: 'An invoice has 1 to 1000 lines, and its total is within the limits.',
  },
  'line.description': {
    fr: 'La désignation est obligatoire, 500 caractères au plus.',
    ar: 'البيان إلزامي، ولا يتجاوز عدد حروفه 500.',
    en: 'The description is required, with at most 500 characters.',
  },
  'line.quantity': {
    fr: 'Un nombre supérieur à zéro, avec trois décimales au plus.',
    ar: 'عدد أكبر من صفر، بثلاثة أرقام عشرية على الأكثر.',
    en: 'A number above zero with at most three decimals.',
  },
  'line.unitPrice': {
    fr: 'Un prix en dirhams, zéro ou plus, avec quatre décimales au plus.',
    ar: 'ثمن بالدرهم، صفر أو أكثر، بأربعة أرقام عشرية على الأكثر.',
    en: 'A price in dirhams, zero or more, with at most four decimals.',
  },
  'line.discount': PERCENT,
  'line.discount.amount': {
    fr: 'La remise ne dépasse pas le prix de la ligne.',
    ar: 'لا يتجاوز الخصم ثمن السطر.',
    en: 'The discount is at most the price of the line.',
  },
  'line.exemption': {
    fr: 'Seule une ligne à 0\u00a0% a un motif d’exonération.',
    ar: 'لا يُذكر سبب الإعفاء إلا لسطر بسعر 0\u00a0%.',
    en: 'Only a line at 0% has a reason for exemption.',
  },
  'line.exemption.certificate': CERTIFICATE,
  'terms.operationDate': DATE,
  'terms.dueDate': DATE,
  'terms.paymentMode': {
    fr: 'Un texte d’une ligne, 100 caractères au plus.',
    ar: 'نص من سطر واحد، لا يتجاوز عدد حروفه 100.',
    en: 'A text of one line with at most 100 characters.',
  },
  'terms.paymentReference': ONE_LINE_50,
  'terms.bankAccount': {
    fr: 'Un RIB a 24 chiffres.',
    ar: 'يتكون رقم الحساب البنكي من 24 رقما.',
    en: 'A RIB has 24 digits.',
  },
  references: ONE_LINE_50,
  servicePeriod: PERIOD,
  discount: PERCENT,
  'discount.amount': {
    fr: 'La remise ne dépasse pas la somme des lignes.',
    ar: 'لا يتجاوز الخصم مجموع السطور.',
    en: 'The discount is at most the sum of the lines.',
  },
  charge: {
    fr: 'Des frais demandent au moins une ligne avec un prix.',
    ar: 'تتطلب المصاريف سطرا واحدا على الأقل له ثمن.',
    en: 'A charge needs at least one line with a price.',
  },
  withholding: {
    fr: 'Un nombre entier de 1 à 100.',
    ar: 'عدد صحيح من 1 إلى 100.',
    en: 'A whole number from 1 to 100.',
  },
  seller: {
    fr: 'Votre profil est incomplet pour une facture en production\u00a0: complétez-le dans les réglages.',
    ar: 'ملفكم غير كامل لإصدار فاتورة في الإنتاج: أكملوه في الإعدادات.',
    en: 'Your profile is not complete for a live invoice: complete it in the settings.',
  },
};

/** Returns the rule of a field, or of the record it is in; null if there is none. @param param such as `lines.0.quantity` */
export function fieldRule(param: string, language: DocumentLanguage): string | null {
  const names = param.replace(/^lines\.\d+\./, 'line.').split('.');
  // A whole customer or line that is missing lacks what it must have.
  if (param === 'customer') names.push('name');
  for (let count = names.length; count > 0; count--) {
    const path = names.slice(0, count).join('.');
    if (Object.hasOwn(FIELD_RULES, path)) return FIELD_RULES[path]?.[language] ?? null;
  }
  return null;
}
