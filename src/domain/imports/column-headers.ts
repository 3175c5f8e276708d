import type { DocumentLanguage } from '../document-language.ts';
import type { ImportField } from './columns.ts';

/** A text in each language. */
export type Texts = Readonly<Record<DocumentLanguage, string>>;

/** The headers of the template, which also name the fields elsewhere. */
export const COLUMN_HEADERS: Readonly<Record<ImportField, Texts>> = {
  document: { fr: 'Repère de la facture', ar: 'معرف الفاتورة', en: 'Invoice key' },
  number: { fr: 'Numéro de facture', ar: 'رقم الفاتورة', en: 'Invoice number' },
  'customer.name': { fr: 'Client', ar: 'الزبون', en: 'Customer' },
  'customer.company': { fr: 'Société du client', ar: 'شركة الزبون', en: 'Customer’s company' },
  'customer.firstName': { fr: 'Prénom du client', ar: 'الاسم الشخصي للزبون', en: 'Customer’s first name' },
  'customer.lastName': { fr: 'Nom de famille du client', ar: 'الاسم العائلي للزبون', en: 'Customer’s last name' },
  'customer.ice': { fr: 'ICE du client', ar: 'ICE الزبون', en: 'Customer ICE' },
  'customer.kind': { fr: 'Type de client', ar: 'نوع الزبون', en: 'Customer type' },
  'customer.address': { fr: 'Adresse du client', ar: 'عنوان الزبون', en: 'Customer address' },
  'customer.email': { fr: 'E-mail du client', ar: 'البريد الإلكتروني للزبون', en: 'Customer e-mail' },
  'customer.country': { fr: 'Pays du client', ar: 'بلد الزبون', en: 'Customer country' },
  'customer.taxNumber': {
    fr: 'Numéro fiscal du client étranger',
    ar: 'الرقم الضريبي للزبون الأجنبي',
    en: 'Foreign customer’s tax number',
  },
  'line.description': { fr: 'Désignation', ar: 'البيان', en: 'Description' },
  'line.quantity': { fr: 'Quantité', ar: 'الكمية', en: 'Quantity' },
  'line.unit': { fr: 'Unité', ar: 'الوحدة', en: 'Unit' },
  'line.unitPrice': { fr: 'Prix unitaire HT', ar: 'ثمن الوحدة دون ضريبة', en: 'Unit price excl. tax' },
  'line.unitPriceWithTax': { fr: 'Prix unitaire TTC', ar: 'ثمن الوحدة مع الضريبة', en: 'Unit price incl. tax' },
  'line.taxRate': { fr: 'Taux de TVA', ar: 'سعر الضريبة على القيمة المضافة', en: 'VAT rate' },
  'line.discount.percent': { fr: 'Remise en %', ar: 'الخصم بالنسبة المئوية', en: 'Discount in %' },
  'line.discount.amount': { fr: 'Remise en dirhams', ar: 'الخصم بالدرهم', en: 'Discount in dirhams' },
  'line.exemption.code': { fr: 'Motif d’exonération', ar: 'سبب الإعفاء', en: 'Reason for exemption' },
  'line.exemption.certificate.number': { fr: 'Numéro de l’attestation', ar: 'رقم الشهادة', en: 'Certificate number' },
  'line.exemption.certificate.date': { fr: 'Date de l’attestation', ar: 'تاريخ الشهادة', en: 'Certificate date' },
  'terms.operationDate': { fr: 'Date de l’opération', ar: 'تاريخ العملية', en: 'Operation date' },
  'terms.dueDate': { fr: 'Date d’échéance', ar: 'تاريخ الاستحقاق', en: 'Due date' },
  'terms.paymentMeans': { fr: 'Moyen de paiement', ar: 'وسيلة الأداء', en: 'Means of payment' },
  'terms.paymentMode': { fr: 'Paiement en toutes lettres', ar: 'عبارة الأداء', en: 'Payment in words' },
  'terms.paymentReference': { fr: 'Référence de paiement', ar: 'مرجع الأداء', en: 'Payment reference' },
  'terms.bankAccount': { fr: 'RIB', ar: 'رقم الحساب البنكي', en: 'Bank account (RIB)' },
  'references.order': { fr: 'Numéro de commande', ar: 'رقم الطلبية', en: 'Order number' },
  'references.contract': { fr: 'Numéro de contrat', ar: 'رقم العقد', en: 'Contract number' },
  'servicePeriod.from': { fr: 'Début de la prestation', ar: 'بداية الخدمة', en: 'Service from' },
  'servicePeriod.to': { fr: 'Fin de la prestation', ar: 'نهاية الخدمة', en: 'Service to' },
  'discount.percent': { fr: 'Remise globale en %', ar: 'الخصم الإجمالي بالنسبة المئوية', en: 'Invoice discount in %' },
  'discount.amount': {
    fr: 'Remise globale en dirhams',
    ar: 'الخصم الإجمالي بالدرهم',
    en: 'Invoice discount in dirhams',
  },
  'discount.amountAsPriced': {
    fr: 'Remise globale, HT ou TTC comme les prix',
    ar: 'الخصم الإجمالي، مع الضريبة أو دونها كالأثمنة',
    en: 'Invoice discount, with tax if prices have it',
  },
  'charge.amount': { fr: 'Frais (livraison) HT', ar: 'مصاريف (التوصيل) دون ضريبة', en: 'Charge (delivery) excl. tax' },
  'charge.amountAsPriced': {
    fr: 'Frais (livraison), HT ou TTC comme les prix',
    ar: 'مصاريف (التوصيل)، مع الضريبة أو دونها كالأثمنة',
    en: 'Charge (delivery), with tax if prices have it',
  },
  'withholding.percent': {
    fr: 'TVA retenue à la source en %',
    ar: 'الضريبة المحجوزة في المنبع بالنسبة المئوية',
    en: 'VAT withheld in %',
  },
  isDeposit: { fr: 'Acompte', ar: 'تسبيق', en: 'Deposit' },
  amount: { fr: 'Total TTC de la facture', ar: 'مجموع الفاتورة مع الضريبة', en: 'Invoice total incl. tax' },
  currency: { fr: 'Devise', ar: 'العملة', en: 'Currency' },
  'source.kind': { fr: 'Type de document', ar: 'نوع الوثيقة', en: 'Document type' },
  'source.status': { fr: 'État du document', ar: 'حالة الوثيقة', en: 'Document status' },
  'source.payment': { fr: 'État du paiement', ar: 'حالة الأداء', en: 'Payment status' },
  'source.cancelled': { fr: 'Date d’annulation', ar: 'تاريخ الإلغاء', en: 'Cancelled on' },
};

/**
 * The columns that the service adds to a returned file. The reader recognizes them by their headers and ignores them,
 * except the number.
 */
export const RESULT_COLUMNS = {
  number: { fr: 'Numéro (Fatoura)', ar: 'الرقم (Fatoura)', en: 'Number (Fatoura)' },
  status: { fr: 'Statut (Fatoura)', ar: 'الحالة (Fatoura)', en: 'Status (Fatoura)' },
  reason: { fr: 'Motif (Fatoura)', ar: 'السبب (Fatoura)', en: 'Reason (Fatoura)' },
  dgiId: { fr: 'Identifiant DGI (Fatoura)', ar: 'معرف DGI (Fatoura)', en: 'DGI id (Fatoura)' },
  pdfUrl: { fr: 'PDF (Fatoura)', ar: 'ملف PDF (Fatoura)', en: 'PDF address (Fatoura)' },
} as const satisfies Readonly<Record<string, Texts>>;
