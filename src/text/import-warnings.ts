import type { DocumentLanguage } from '../domain/document-language.ts';

type Facts = Readonly<Record<string, string>>;

/** The text of the warning `equal_sale`: an invoice of a file counts as one that was issued of another row. */
export const EQUAL_SALE: Readonly<Record<DocumentLanguage, (facts: Facts) => string>> = {
  fr: ({ number, date }) =>
    `Une vente identique a été émise le ${date}\u00a0: facture ${number}. Si celle-ci en est une autre, donnez-lui un numéro ou un numéro de commande.`,
  ar: ({ number, date }) =>
    `صدرت عملية بيع مطابقة بتاريخ ${date}: الفاتورة ${number}. إذا كانت هذه عملية أخرى، فأعطوها رقمًا أو رقم طلبية.`,
  en: ({ number, date }) =>
    `An equal sale was issued on ${date}: invoice ${number}. If this is another one, give it a number, or the number of its order.`,
};
