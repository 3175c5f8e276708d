import type { Texts } from './column-headers.ts';
import type { ImportField } from './columns.ts';

/** What to write into the cells of a column, for the sheet that explains the template and for the page. */
export const COLUMN_EXPLANATIONS: Readonly<Record<ImportField, Texts>> = {
  document: {
    fr: 'N’importe quel texte, le même sur toutes les lignes d’une facture, qui se suivent. Il n’est pas imprimé.',
    ar: 'أي نص، هو نفسه في كل سطور الفاتورة الواحدة، وهي متتالية. لا يُطبع.',
    en: 'Any text, the same on all lines of one invoice, which follow each other. It is not printed.',
  },
  number: {
    fr: 'Le numéro dans votre propre série. Vide\u00a0: le service attribue le prochain de la sienne.',
    ar: 'الرقم في سلسلتكم الخاصة. إذا كان فارغا: تمنح الخدمة الرقم التالي من سلسلتها.',
    en: 'The number in your own series. Empty: the service gives the next one of its series.',
  },
  'customer.name': {
    fr: 'Le nom de l’entreprise ou de la personne.',
    ar: 'اسم المقاولة أو الشخص.',
    en: 'The name of the company or person.',
  },
  'customer.company': {
    fr: 'La société du client, si une autre colonne a le nom de la personne\u00a0: la facture est alors à son nom.',
    ar: 'شركة الزبون، إذا كان في عمود آخر اسم الشخص: تكون الفاتورة عندئذ باسمها.',
    en: 'The customer’s company, if another column has the name of the person: the invoice is then in its name.',
  },
  'customer.firstName': {
    fr: 'Le prénom d’un particulier, devant son nom de famille.',
    ar: 'الاسم الشخصي لشخص عادي، قبل اسمه العائلي.',
    en: 'The first name of a private person, before the last name.',
  },
  'customer.lastName': {
    fr: 'Le nom de famille d’un particulier, s’il n’y a pas de société ni de nom complet.',
    ar: 'الاسم العائلي لشخص عادي، إذا لم تكن هناك شركة ولا اسم كامل.',
    en: 'The last name of a private person, if there is no company and no full name.',
  },
  'customer.ice': {
    fr: '15 chiffres, dans une cellule au format Texte. Obligatoire pour une entreprise au Maroc.',
    ar: '15 رقما، في خلية بتنسيق نص. إلزامي لمقاولة في المغرب.',
    en: '15 digits, in a cell with the format Text. Required for a company in Morocco.',
  },
  'customer.kind': {
    fr: 'Entreprise au Maroc (si vide), particulier au Maroc, ou client à l’étranger.',
    ar: 'مقاولة في المغرب (إذا كانت الخلية فارغة)، أو شخص عادي في المغرب، أو زبون في الخارج.',
    en: 'A company in Morocco (if empty), a private person in Morocco, or a customer abroad.',
  },
  'customer.address': {
    fr: 'L’adresse complète.',
    ar: 'العنوان الكامل.',
    en: 'The full address.',
  },
  'customer.email': {
    fr: 'L’adresse à laquelle le PDF signé est envoyé.',
    ar: 'العنوان الذي يُرسل إليه ملف PDF الموقع.',
    en: 'Where the signed PDF is sent.',
  },
  'customer.country': {
    fr: 'Le pays d’un client à l’étranger\u00a0: son nom ou son code à deux lettres.',
    ar: 'بلد الزبون في الخارج: اسمه أو رمزه من حرفين.',
    en: 'The country of a customer abroad: its name or its code of two letters.',
  },
  'customer.taxNumber': {
    fr: 'Le numéro fiscal d’un client à l’étranger, tel que son pays l’écrit.',
    ar: 'الرقم الضريبي للزبون في الخارج، كما يكتبه بلده.',
    en: 'The tax number of a customer abroad, as in its country.',
  },
  'line.description': {
    fr: 'Le produit ou le service.',
    ar: 'المنتج أو الخدمة.',
    en: 'The product or service.',
  },
  'line.quantity': {
    fr: 'Un nombre positif, trois décimales au plus. Sans cette colonne\u00a0: 1.',
    ar: 'عدد موجب، بثلاثة أرقام عشرية على الأكثر. بدون هذا العمود: 1.',
    en: 'A positive number with at most three decimals. Without this column: 1.',
  },
  'line.unit': {
    fr: 'L’unité de la quantité, choisie dans la liste. Vide\u00a0: pièces.',
    ar: 'وحدة الكمية، تُختار من القائمة. إذا كانت فارغة: قطع.',
    en: 'The unit of the quantity, from the list. Empty: pieces.',
  },
  'line.unitPrice': {
    fr: 'En dirhams, hors taxe, quatre décimales au plus.',
    ar: 'بالدرهم، دون ضريبة، بأربعة أرقام عشرية على الأكثر.',
    en: 'In dirhams, without tax, with at most four decimals.',
  },
  'line.unitPriceWithTax': {
    fr: 'En dirhams, taxe comprise\u00a0: à la place du prix hors taxe.',
    ar: 'بالدرهم، مع الضريبة: بدلا من الثمن دون ضريبة.',
    en: 'In dirhams, with tax: instead of the price without tax.',
  },
  'line.taxRate': {
    fr: 'En pourcentage, choisi dans la liste. Sans cette colonne\u00a0: 20.',
    ar: 'بالنسبة المئوية، يُختار من القائمة. بدون هذا العمود: 20.',
    en: 'In percent, from the list. Without this column: 20.',
  },
  'line.discount.percent': {
    fr: 'Sur le prix de la ligne\u00a0: 10 ou 10\u00a0%.',
    ar: 'من ثمن السطر: 10 أو 10\u00a0%.',
    en: 'Of the price of the line: 10 or 10%.',
  },
  'line.discount.amount': {
    fr: 'Sur le prix de la ligne, en dirhams.',
    ar: 'من ثمن السطر، بالدرهم.',
    en: 'Of the price of the line, in dirhams.',
  },
  'line.exemption.code': {
    fr: 'D’une ligne à 0\u00a0%, choisi dans la liste. Vide\u00a0: le motif de votre profil.',
    ar: 'لسطر بسعر 0\u00a0%، يُختار من القائمة. إذا كان فارغا: السبب المسجل في ملفكم.',
    en: 'Of a line at 0%, from the list. Empty: the reason of your profile.',
  },
  'line.exemption.certificate.number': {
    fr: 'De l’attestation de l’acheteur, pour une vente en suspension de la TVA.',
    ar: 'رقم شهادة المشتري، للبيع مع وقف استيفاء الضريبة.',
    en: 'Of the certificate of the buyer, for a sale under suspension of VAT.',
  },
  'line.exemption.certificate.date': {
    fr: 'La date de cette attestation.',
    ar: 'تاريخ هذه الشهادة.',
    en: 'The date of that certificate.',
  },
  'terms.operationDate': {
    fr: 'Le jour de la livraison ou de la prestation. La facture elle-même porte la date de son émission.',
    ar: 'يوم التسليم أو إنجاز الخدمة. أما الفاتورة نفسها فتحمل تاريخ إصدارها.',
    en: 'When the goods were delivered or the service was done. The invoice itself has the date of its issue.',
  },
  'terms.dueDate': {
    fr: 'Le dernier jour pour payer. Vide\u00a0: le délai de votre profil.',
    ar: 'آخر يوم للأداء. إذا كان فارغا: أجل الأداء المسجل في ملفكم.',
    en: 'The last day to pay. Empty: by the payment term of your profile.',
  },
  'terms.paymentMeans': {
    fr: 'Choisi dans la liste. Un autre texte est imprimé tel quel.',
    ar: 'تُختار من القائمة. أي نص آخر يُطبع كما هو.',
    en: 'From the list. Any other text is printed as it is.',
  },
  'terms.paymentMode': {
    fr: 'Comment payer, en toutes lettres.',
    ar: 'كيفية الأداء، بالحروف.',
    en: 'How to pay, in words.',
  },
  'terms.paymentReference': {
    fr: 'Ce que l’acheteur doit citer. Vide\u00a0: le numéro de la facture.',
    ar: 'ما على المشتري ذكره. إذا كان فارغا: رقم الفاتورة.',
    en: 'What the buyer is to quote. Empty: the number of the invoice.',
  },
  'terms.bankAccount': {
    fr: 'Le compte à créditer\u00a0: 24 chiffres, dans une cellule au format Texte.',
    ar: 'الحساب الذي يُؤدى إليه: 24 رقما، في خلية بتنسيق نص.',
    en: 'The account to pay to: 24 digits, in a cell with the format Text.',
  },
  'references.order': {
    fr: 'Le numéro de la commande de l’acheteur.',
    ar: 'رقم طلبية المشتري.',
    en: 'The number of the buyer’s order.',
  },
  'references.contract': {
    fr: 'Le numéro du contrat.',
    ar: 'رقم العقد.',
    en: 'The number of the contract.',
  },
  'servicePeriod.from': {
    fr: 'Le premier jour de la prestation.',
    ar: 'أول يوم من الخدمة.',
    en: 'The first day of the service.',
  },
  'servicePeriod.to': {
    fr: 'Le dernier jour de la prestation.',
    ar: 'آخر يوم من الخدمة.',
    en: 'The last day of the service.',
  },
  'discount.percent': {
    fr: 'Sur la somme de toutes les lignes.',
    ar: 'من مجموع كل السطور.',
    en: 'Of the sum of all lines.',
  },
  'discount.amount': {
    fr: 'Sur la somme de toutes les lignes, en dirhams hors taxe.',
    ar: 'من مجموع كل السطور، بالدرهم دون ضريبة.',
    en: 'Of the sum of all lines, in dirhams without tax.',
  },
  'discount.amountAsPriced': {
    fr: 'Sur la somme de toutes les lignes, en dirhams\u00a0: TTC si les prix des lignes le sont, sinon hors taxe.',
    ar: 'من مجموع كل السطور، بالدرهم: مع الضريبة إن كانت أثمنة السطور معها، وإلا فدونها.',
    en: 'Of the sum of all lines, in dirhams: with tax if the prices of the lines have it, else without.',
  },
  'charge.amount': {
    fr: 'Ce qui s’ajoute à la somme des lignes, en dirhams hors taxe.',
    ar: 'ما يُضاف إلى مجموع السطور، بالدرهم دون ضريبة.',
    en: 'What is added to the sum of the lines, in dirhams without tax.',
  },
  'charge.amountAsPriced': {
    fr: 'Ce qui s’ajoute à la somme des lignes, en dirhams\u00a0: TTC si les prix des lignes le sont, sinon hors taxe.',
    ar: 'ما يُضاف إلى مجموع السطور، بالدرهم: مع الضريبة إن كانت أثمنة السطور معها، وإلا فدونها.',
    en: 'What is added to the sum of the lines, in dirhams: with tax if the prices of the lines have it, else without.',
  },
  'withholding.percent': {
    fr: 'La part de la TVA que l’acheteur retient et verse lui-même\u00a0: 75 ou 100.',
    ar: 'نسبة الضريبة التي يحجزها المشتري ويؤديها بنفسه: 75 أو 100.',
    en: 'The share of the VAT that the buyer withholds and pays itself: 75 or 100.',
  },
  isDeposit: {
    fr: 'Oui, si la facture demande un acompte avant la vente.',
    ar: 'نعم، إذا كانت الفاتورة تطلب تسبيقا قبل البيع.',
    en: 'Yes, if the invoice asks for a deposit before the sale.',
  },
  amount: {
    fr: 'Facultatif\u00a0: s’il est rempli, il doit être le total des lignes avec leur TVA.',
    ar: 'اختياري: إذا مُلئ، يجب أن يساوي مجموع السطور مع ضريبتها.',
    en: 'Optional: if filled, it must be the total of the lines with their VAT.',
  },
  currency: {
    fr: 'Seul le dirham (MAD) est accepté.',
    ar: 'لا يُقبل إلا الدرهم (MAD).',
    en: 'Only the dirham (MAD) is accepted.',
  },
  'source.kind': {
    fr: 'Ce qu’est le document dans le logiciel qui a écrit le fichier\u00a0: seules les factures de vente sont émises.',
    ar: 'نوع الوثيقة في البرنامج الذي كتب الملف: لا تُصدر إلا فواتير البيع.',
    en: 'What the document is in the program that wrote the file: only invoices of sales are issued.',
  },
  'source.status': {
    fr: 'L’état du document dans ce logiciel\u00a0: les brouillons et les ventes annulées ne sont pas émis.',
    ar: 'حالة الوثيقة في ذلك البرنامج: لا تُصدر المسودات والمبيعات الملغاة.',
    en: 'The state of the document in that program: drafts and cancelled sales are not issued.',
  },
  'source.payment': {
    fr: 'L’état du paiement dans ce logiciel\u00a0: les ventes remboursées ou en attente ne sont pas émises.',
    ar: 'حالة الأداء في ذلك البرنامج: لا تُصدر المبيعات المستردة أو المعلقة.',
    en: 'The state of the payment in that program: refunded and pending sales are not issued.',
  },
  'source.cancelled': {
    fr: 'Rempli, si la vente est annulée\u00a0: elle n’est alors pas émise.',
    ar: 'يُملأ إذا أُلغي البيع: لا يُصدر عندئذ.',
    en: 'Filled, if the sale is cancelled: then it is not issued.',
  },
};
