import type { ImportField } from './columns.ts';
import { namesIn } from './names-in.ts';

/**
 * Other headers of the columns, as accountants and other programs write them (Sage, Odoo, Shopify, WooCommerce, EBP).
 * Headers are compared as `headerKey` folds them: without case, accents, punctuation and small words. An ambiguous
 * header, such as `Total`, has no row here: its column is not used until a person chooses its field.
 */
export const COLUMN_SYNONYMS: Readonly<Partial<Record<ImportField, readonly string[]>>> = {
  document: namesIn(`
    repère, groupe, clé de facture, identifiant facture, id facture, document, pièce, ref document, invoice ref
    invoice id, document key
    معرف, المعرف, الوثيقة
  `),
  number: namesIn(`
    n° facture, n° de facture, facture n°, facture, n° pièce, numéro de pièce, n° document, numéro du document
    réf facture, référence facture, invoice no, invoice, invoice ref no, invoiceno, document number, invoice #
    رقم الفاتوره, فاتورة رقم, الفاتورة
  `),
  'customer.name': namesIn(`
    nom du client, nom client, raison sociale, raison sociale du client, dénomination, intitulé, intitulé client
    intitulé du client, tiers, nom du tiers, partenaire, destinataire, acheteur, nom de la société, client facturé
    nom de l’entreprise, customer name, client name, buyer, partner, nom d’affichage du partenaire de la facture
    billing name, bill to, company name, intitulé tiers, intitulé du tiers, partner id, invoice partner display name
    اسم الزبون, زبون, العميل, اسم العميل, المشتري, اسم الشركة, اسم المقاولة
  `),
  'customer.company': namesIn(`
    company billing, billing company, billing company name, société facturation, entreprise facturation
    nom de l’entreprise facturation, société de facturation
  `),
  'customer.firstName': namesIn(`
    prénom, prénom facturation, prénom client, first name, firstname, first name billing, billing first name
    customer first name
    الاسم الشخصي, الاسم الأول
  `),
  'customer.lastName': namesIn(`
    nom, nom facturation, nom de famille, last name, lastname, last name billing, surname, billing last name
    customer last name
    الاسم العائلي, النسب
  `),
  'customer.ice': namesIn(`
    ice, n° ice, numéro ice, ice client, code ice, i c e, identifiant commun de l’entreprise, ice no
    identifiant commun entreprise, customer ice, partner ice, partenaire ice, partner company registry
    partner id company registry
    رقم ice, ice العميل, التعريف الموحد للمقاولة, المعرف الموحد للمقاولة, رقم التعريف الموحد للمقاولة, ت م م
  `),
  'customer.kind': namesIn(`
    type client, nature du client, catégorie client, kind of customer
    صنف الزبون, نوع العميل
  `),
  'customer.address': namesIn(`
    adresse, adresse client, adresse de facturation, adresse complète, address, customer address, billing address
    billing street, address 1 2 billing, client address
    العنوان, عنوان, عنوان العميل
  `),
  'customer.email': namesIn(`
    email, e mail, mail, courriel, email client, mail client, adresse email, adresse e mail, adresse mail
    customer email, billing email, email billing, client email
    البريد الإلكتروني, البريد, الإيميل
  `),
  'customer.country': namesIn(`
    pays, pays client, country, billing country, country code billing, client country
    البلد, بلد, الدولة
  `),
  'customer.taxNumber': namesIn(`
    numéro de tva, n° tva intracommunautaire, tva intracommunautaire, numéro fiscal, vat number, tax id, tax number
    foreign tax number
    الرقم الضريبي
  `),
  'line.description': namesIn(`
    description, libellé, libellé article, désignation article, article, produit, prestation, service, nom du produit
    nom de l’article, objet, nature, intitulé article, désignation des articles, désignation produit, détail, label
    item, item name, product, product name, line description, lineitem name, line item name, invoice lines label
    lignes de facture libellé, lignes de facture description, invoice lines description, invoice line ids name
    invoice lines product, lignes de facture produit, description de la ligne, description ligne, line description
    item description, itemdescription, item product service, product service, order item name, product name main
    order item name
    وصف, الوصف, بيان, التعيين, المنتج, السلعة, الخدمة
  `),
  'line.quantity': namesIn(`
    qté, qte, quantités, quantité facturée, qté facturée, nombre, nb, qty, lineitem quantity, units
    quantité pour la ligne, quantité de la ligne, quantity for line, itemquantity, invoice line ids quantity
    quantity refund, line item quantity, invoice lines quantity, lignes de facture quantité, item quantity
    quantity sold
    كمية, العدد, عدد
  `),
  'line.unit': namesIn(`
    unité de mesure, unité de vente, um, u m, unit, unit of measure, uom, invoice lines unit of measure
    invoice line ids product uom id, usage unit, lignes de facture unité de mesure
    وحدة, وحدة القياس
  `),
  // `Prix`, `Prix unitaire` and `Price` do not say whether they include tax.
  'line.unitPrice': namesIn(`
    pu ht, p u ht, puht, prix ht, prix unit ht, prix unitaire hors taxe, prix de vente ht, tarif ht
    prix unitaire de la ligne, prix unitaire ht de la ligne, price excl tax, unit price excluding tax, unit price net
    net price, rate excl tax
    ثمن الوحدة بدون ضريبة, ثمن الوحدة خارج الضريبة, السعر دون ضريبة
  `),
  'line.unitPriceWithTax': namesIn(`
    pu ttc, p u ttc, puttc, prix ttc, prix unit ttc, prix de vente ttc, tarif ttc, unit price incl tax
    prix unitaire toutes taxes comprises, price incl tax, unit price including tax, gross price
    السعر مع الضريبة, الثمن مع الضريبة, ثمن الوحدة شامل الضريبة
  `),
  'line.taxRate': namesIn(`
    tva, taux tva, tva %, % tva, tx tva, taux, taux taxe, taux taxe 1, taxe, taxes, taux de taxe
    taux de tva de la ligne, taux tva de la ligne, vat rate of line, item tax %, invoice line ids tax ids
    invoice line ids taxes, vat, vat %, vat percent, tax rate, tax, tax %, invoice lines taxes, lignes de facture taxes
    الضريبة, سعر الضريبة, نسبة الضريبة, الضريبة على القيمة المضافة, ض ق م, نسبة الضريبة على القيمة المضافة
  `),
  'line.discount.percent': namesIn(`
    remise %, % remise, taux de remise, remise ligne %, discount %, discount percent, rabais %
    invoice line ids discount, remise % de la ligne, invoice lines discount %, lignes de facture remise %
    نسبة الخصم, الخصم %
  `),
  'line.discount.amount': ['montant remise', 'remise montant', 'lineitem discount', 'مبلغ الخصم'],
  'line.exemption.code': namesIn(`
    exonération, motif exonération, exemption, exemption reason
    الإعفاء, سبب الإعفاء
  `),
  'line.exemption.certificate.number': ['n° attestation', 'attestation', 'attestation n°', 'certificate no'],
  'line.exemption.certificate.date': ['date attestation'],
  'terms.operationDate': namesIn(`
    date de livraison, date livraison, date opération, date de prestation, date de la prestation, date du service
    delivery date, date of operation, service date, supply date
    تاريخ التسليم
  `),
  'terms.dueDate': namesIn(`
    échéance, date échéance, date d’échéance, à payer avant, date limite de paiement, invoice date due, duedate, due
    due on, payment due
    الاستحقاق, أجل الأداء, تاريخ الأداء
  `),
  'terms.paymentMeans': namesIn(`
    mode de paiement, mode de règlement, moyen de règlement, règlement, paiement, mode paiement, payment method title
    payment method, payment mode, payment means, payment
    طريقة الأداء, طريقة الدفع, الأداء
  `),
  'terms.paymentReference': ['réf paiement', 'communication', 'payment ref', 'référence du paiement'],
  'terms.bankAccount': ['rib', 'compte bancaire', 'n° de compte', 'bank account', 'الحساب البنكي', 'rib du vendeur'],
  'references.order': namesIn(`
    commande, n° commande, bon de commande, n° bon de commande, bc, n° bc, réf commande, order, référence commande
    purchase order, po, po number, order ref, order #
    رقم الطلب, سند الطلب, الطلبية
  `),
  'references.contract': namesIn(`
    contrat, n° contrat, réf contrat, marché, n° marché, contract, contract ref
    العقد
  `),
  'servicePeriod.from': ['début de période', 'service start', 'period start', 'بداية الفترة'],
  'servicePeriod.to': ['fin de période', 'service end', 'period end', 'نهاية الفترة'],
  'discount.percent': ['remise facture %', 'remise pied %', 'remise globale %', 'escompte %'],
  'charge.amount': namesIn(`
    frais de port ht, port ht, frais de livraison ht, livraison ht, shipping excl tax, delivery charge
    frais livraison ht
    مصاريف التوصيل
  `),
  'withholding.percent': ['ras tva %', 'tva retenue %', 'retenue à la source %', 'vat withheld %'],
  isDeposit: ['facture d’acompte', 'is deposit', 'deposit invoice', 'فاتورة تسبيق'],
  amount: namesIn(`
    total facture, total facture ttc, montant facture, montant facture ttc, montant de la facture, invoice total
    total ttc facture, net à payer, invoice amount, total amount due
    مبلغ الفاتورة, مجموع الفاتورة, المبلغ الإجمالي للفاتورة, صافي الأداء
  `),
  currency: ['monnaie', 'code devise', 'currency code', 'عملة'],
  'source.kind': namesIn(`
    type de pièce, type pièce, type facture, type de facture, nature du document, nature de la pièce, invoice type
    transaction type, type of document, move type
    نوع الفاتورة, نوع المستند
  `),
  'source.status': namesIn(`
    statut facture, statut de la facture, statut du document, statut de la pièce, état facture, état de la facture
    état de la pièce, état de la commande, état commande, statut de la commande, statut commande, invoice status
    order status, status of invoice
    حالة الفاتورة, حالة الطلب, حالة الطلبية, حالة المستند
  `),
  'source.payment': namesIn(`
    statut du paiement, statut de paiement, état de paiement, statut du règlement, état du règlement, financial status
    payment state
    حالة الدفع
  `),
  'source.cancelled': namesIn(`
    annulé, annulée, annulation, annulé le, annulée le, cancelled at, canceled at, cancelled, canceled, voided
    cancel date, cancellation date
    ملغاة, ملغى, الإلغاء
  `),
};

/**
 * Ambiguous headers, which are taken for their field only if no other column has the field. A date of the invoice is
 * taken for the date of the operation, because the service dates an invoice on the day of issue.
 */
export const LAST_SYNONYMS: Readonly<Partial<Record<ImportField, readonly string[]>>> = {
  // Unless the column numbers the rows of the file.
  number: ['numéro', 'number', 'رقم', 'الرقم'],
  // If another column names the customer, this column names the seller's own company.
  'customer.name': ['société', 'company', 'الشركة', 'المقاولة'],
  'terms.operationDate': namesIn(`
    date facture, date de facturation, date de pièce, date du document, date d’émission, date vente, date commande
    date, invoice date, date of invoice, bill date, issue date, document date, invoicedate, invoice bill date
    invoice bill date, date de facturation facture, order date
    تاريخ الفاتورة, تاريخ الإصدار, التاريخ, تاريخ
  `),
  // They count if a cell below is a known word: a column `Type` may have anything.
  'source.kind': ['type', 'nature pièce', 'type document', 'doc type', 'النوع', 'نوع'],
  'source.status': ['statut', 'status', 'état', 'state', 'situation', 'الحالة', 'حالة'],
};

/** Headers whose column may be one of several fields. */
export interface UndecidedHeaders {
  /** The most likely field first. */
  readonly fields: readonly ImportField[];
  readonly headers: readonly string[];
}

/**
 * Headers that do not say whether a discount is in percent or in dirhams, or whether it is of the line or of the whole
 * invoice. A person must choose, because each choice leads to another amount due.
 */
export const UNDECIDED_DISCOUNTS: readonly UndecidedHeaders[] = [
  {
    fields: ['line.discount.percent', 'line.discount.amount'],
    headers: ['remise', 'remises', 'rabais', 'discount', 'discounts', 'الخصم', 'خصم', 'تخفيض', 'التخفيض'],
  },
  {
    fields: ['discount.percent', 'discount.amount'],
    headers: namesIn(`
      remise globale, remise facture, remise pied de facture, escompte, invoice discount, total discount
      discount amount
      الخصم الإجمالي
    `),
  },
];

/** Headers that do not say whether a charge includes tax. A person must choose. */
export const UNDECIDED_CHARGES: UndecidedHeaders = {
  fields: ['charge.amountAsPriced', 'charge.amount'],
  headers: namesIn(`
    frais de port, frais de livraison, frais livraison, frais d’expédition, montant livraison, shipping cost
    shipping amount, shipping fee, shipping charge, delivery fee
    مصاريف الشحن
  `),
};

/**
 * Headers that do not say whether the price includes tax. A person must choose, unless another column's header says it.
 */
export const UNDECIDED_PRICES: UndecidedHeaders = {
  fields: ['line.unitPrice', 'line.unitPriceWithTax'],
  headers: namesIn(`
    prix, prix unitaire, prix unit, pu, p u, tarif, prix de vente, prix article, price, invoice lines unit price
    lignes de facture prix unitaire, invoice line ids price unit, lineitem price, itemrate, item cost, unit price
    item price, item rate, rate, sale price, price each
    السعر, سعر, الثمن, ثمن, ثمن الوحدة, سعر الوحدة, الثمن الفردي
  `),
};
