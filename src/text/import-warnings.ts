import type { DocumentLanguage } from '../domain/document-language.ts';

type Facts = Readonly<Record<string, string>>;
type Text = Readonly<Record<DocumentLanguage, (facts: Facts) => string>>;

/**
 * The texts of warnings about earlier invoices: `equal_sale`, an invoice of a file counts as one that was issued of another
 * row; `similar_sale`, it is ready, and may be one that was issued.
 */
export const EARLIER_SALES: Readonly<Record<'equal_sale' | 'similar_sale', Text>> = {
  equal_sale: {
    fr: ({ number, date }) =>
      `Une vente identique a été émise le ${date}\u00a0: facture ${number}. Si celle-ci en est une autre, donnez-lui un numéro ou un numéro de commande.`,
    ar: ({ number, date }) =>
      `صدرت عملية بيع مطابقة بتاريخ ${date}: الفاتورة ${number}. إذا كانت هذه عملية أخرى، فأعطوها رقمًا أو رقم طلبية.`,
    en: ({ number, date }) =>
      `An equal sale was issued on ${date}: invoice ${number}. If this is another one, give it a number, or the number of its order.`,
  },
  similar_sale: {
    fr: ({ number, date }) =>
      `Une vente au même client, avec la même ligne, a été émise le ${date}\u00a0: facture ${number}. Vérifiez que celle-ci en est une autre.`,
    ar: ({ number, date }) =>
      `صدرت عملية بيع للزبون نفسه بالسطر نفسه بتاريخ ${date}: الفاتورة ${number}. تحققوا من أن هذه عملية أخرى.`,
    en: ({ number, date }) =>
      `A sale to the same customer with the same line was issued on ${date}: invoice ${number}. Check that this is another one.`,
  },
};
