import { namesIn } from './names-in.ts';
import type { RowFault } from './row-rules.ts';

/**
 * The kind or state of a document in another program: a valid invoice or sale, the invoice of a deposit, or a reason
 * why nothing may be issued for it.
 */
export type SourceState =
  | 'stands'
  | 'deposit'
  | Extract<RowFault, 'credit_note' | 'not_an_invoice' | 'not_final' | 'cancelled'>;

/**
 * The words of other programs for kinds and states of documents (Sage, Odoo, Dolibarr, Shopify, WooCommerce,
 * PrestaShop, Zoho, QuickBooks). They are compared without case, accents, spaces and punctuation. One table has both,
 * because no word has another meaning in a column of kinds than in a column of states.
 */
export const SOURCE_STATES: Readonly<Record<SourceState, readonly string[]>> = {
  stands: namesIn(`
    facture, facture client, facture de vente, facture standard, facture comptabilisée, vente, facture de doit, doit
    fa, fc, fac, facture simple, facture normale, client, comptabilisé, comptabilisée, validé, validée, valide
    confirmé, confirmée, définitif, définitive, émise, émis, envoyé, envoyée, clôturé, clôturée, soldé, soldée, terminé
    terminée, en cours, en cours de traitement, en préparation, préparation en cours, en cours de paiement
    en cours de préparation, expédié, expédiée, livré, livrée, en cours de livraison, payé, payée, payées, réglé
    réglée, classée payée, paiement accepté, paiement à distance accepté, impayé, impayée, non payé, non payée
    non réglé, non réglée, à payer, partiellement payé, partiel, partiellement payée, partiellement réglée
    payé partiellement, payée partiellement, acceptée, réglée partiellement, règlement commencé, en retard, échue
    ouverte, facturé, facturée, totalement facturé, entièrement facturé, payé en partie, payée en partie, lettré
    lettrée
    invoice, customer invoice, sales invoice, tax invoice, standard invoice, sale, out_invoice, posted, validated
    confirmed, approved, issued, sent, closed, final, finalized, completed, complete, processing, processed, shipped
    delivered, fulfilled, paid, in payment, unpaid, not paid, partially paid, partial, partiallypaid, overdue, open
    viewed, invoiced, settled, fully invoiced, payment accepted, remote payment accepted, success, done, deposited
    فاتورة, فاتورة بيع, فاتورة مبيعات, فاتورة العميل, فاتورة الزبون, بيع, مرحل, مرحلة, مؤكد, مؤكدة, مصادق عليها, صادرة
    مرسلة, مكتمل, مكتملة, قيد التنفيذ, قيد المعالجة, تم الشحن, تم التسليم, تم التوصيل, مدفوع, مدفوعة, مؤداة, غير مدفوع
    غير مدفوعة, غير مؤداة, مدفوعة جزئيا, مدفوع جزئيا, مؤداة جزئيا, متأخرة, مفتوحة, مغلقة, منتهية
  `),
  deposit: namesIn(`
    facture d’acompte, acompte, facture acompte, deposit, deposit invoice, down payment, down payment invoice
    فاتورة تسبيق, تسبيق
  `),
  credit_note: namesIn(`
    avoir, avoirs, facture d’avoir, facture avoir, note d’avoir, avoir client, note de crédit, facture de retour
    facture retour, retour, bon d’avoir, avoir financier, bon d’avoir financier, facture d’avoir client, bon de retour
    remboursement, fr, fv, av, ba, br
    credit note, credit notes, customer credit note, credit memo, creditmemo, refund, customer refund, out_refund
    sales return, return, credit, vendor credit
    إشعار دائن, إشعار دائن للعميل, إشعار دائن للزبون, فاتورة مرتجع, مرتجع, مرتجع مبيعات, فاتورة مرتجعات, إشعار خصم
    استرجاع
  `),
  not_an_invoice: namesIn(`
    devis, proforma, pro forma, facture proforma, facture pro forma, offre, proposition, modèle, facture modèle
    commande, bon de commande, bon de livraison, préparation de livraison, bl, bc, facture fournisseur
    avoir fournisseur, achat, facture d’achat, fournisseur, devis envoyé, écriture comptable, pièce comptable
    règlement, paiement, de, pl
    quote, quotation, quotation sent, estimate, proforma invoice, pro forma invoice, order, sales order, purchase order
    delivery note, packing slip, vendor bill, bill, in_invoice, in_refund, purchase, journal entry, entry, payment
    template, recurring, vendor credit note
    عرض أثمان, عرض أسعار, عرض سعر, فاتورة أولية, فاتورة شكلية, طلبية, أمر بيع, سند الطلب, سند التسليم, بون التسليم
    فاتورة شراء, فاتورة المورد, فاتورة مورد, قيد يومية
  `),
  not_final: namesIn(`
    brouillon, brouillons, en attente, en attente de paiement, attente paiement, en attente paiement
    en attente de validation, à valider, non validé, non validée, provisoire, à facturer, saisi
    en attente de virement bancaire, en attente du paiement par chèque, en attente du paiement par virement
    en attente de paiement à la livraison, en attente de réapprovisionnement, autorisé, saisie, suspendu
    en attente de réapprovisionnement non payé, en attente de réapprovisionnement payé, suspendue, préparée
    a confirmer, à confirmer, non confirmée, non comptabilisé, non comptabilisée, en saisie, brouillard
    draft, checkout draft, pending, pending payment, payment pending, on hold, onhold, unconfirmed, authorized
    authorised, awaiting payment, to approve, awaiting approval, pending approval, new, awaiting bank wire payment
    awaiting check payment, awaiting cash on delivery validation, to invoice, on backorder, expected, unposted
    provisional, scheduled, saved, in progress, unapproved
    مسودة, قيد الانتظار, بانتظار الدفع, في انتظار الدفع, بانتظار الأداء, معلق, معلقة, في الانتظار, غير مؤكدة
    غير مصادق عليها, مؤقتة
  `),
  cancelled: namesIn(`
    annulé, annulée, annulation, abandonné, abandonnée, remboursé, remboursée, extourné, extournée
    partiellement remboursé, partiellement remboursée, remboursé partiellement, échoué, échouée, échec
    remboursée partiellement, rejeté, rejetée, refusé, refusée, erreur de paiement, supprimé, supprimée, retourné
    retournée, contrepassé, contrepassée, expirée, corbeille, non livré
    cancelled, canceled, cancel, void, voided, refunded, partially refunded, partial refund, failed, reversed
    partially reversed, declined, rejected, abandoned, deleted, trash, expired, returned, payment error, chargeback
    charge back, bounced, written off, writeoff, undelivered, disputed
    ملغى, ملغي, ملغاة, مسترد, مستردة, تم الاسترداد, تم استرداده, تم الاسترجاع, مسترجعة, فشل, فاشل, فاشلة, مرفوض, مرفوضة
    معكوس, معكوسة, متروكة, محذوفة, تم الإلغاء, مسترد جزئيا
  `),
};
