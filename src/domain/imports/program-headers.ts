import type { ImportField } from './columns.ts';

/** Headers that have a meaning only in the export of one program. */
export interface ProgramHeaders {
  /** The export contains all of these headers. */
  readonly has: readonly string[];
  /** Null: the column is not used, even if its header has a meaning elsewhere. */
  readonly fields: Readonly<Record<string, ImportField | null>>;
}

/**
 * Headers of other programs that are ambiguous on their own, such as `Name` above orders. If the document has a total,
 * it is read, too: then a misinterpreted price, discount or charge is a problem of the invoice (`amount_mismatch`) and
 * not a wrong invoice.
 */
export const PROGRAM_HEADERS: readonly ProgramHeaders[] = [
  // Odoo: prices are without tax, unless a tax is configured otherwise; the total shows that.
  {
    has: ['Invoice lines/Quantity', 'Invoice lines/Unit Price', 'Total'],
    fields: { 'Invoice lines/Unit Price': 'line.unitPrice', Total: 'amount' },
  },
  {
    has: ['Lignes de facture/Quantité', 'Lignes de facture/Prix unitaire', 'Total'],
    fields: { 'Lignes de facture/Prix unitaire': 'line.unitPrice', Total: 'amount' },
  },
  {
    has: ['invoice_line_ids/quantity', 'invoice_line_ids/price_unit', 'amount_total'],
    fields: { 'invoice_line_ids/price_unit': 'line.unitPrice', amount_total: 'amount', name: 'number' },
  },
  // Shopify: prices and discounts include tax if the shop is configured so. Taxes are amounts of the order.
  {
    has: ['Name', 'Lineitem name', 'Lineitem price'],
    fields: {
      Name: 'document',
      Total: 'amount',
      'Created at': 'terms.operationDate',
      Taxes: null,
      'Discount Amount': 'discount.amountAsPriced',
      Shipping: 'charge.amountAsPriced',
    },
  },
  // WooCommerce: its exports repeat the order in the row of each item.
  {
    has: ['Order Number', 'Item Name', 'Order Status'],
    fields: {
      'Order Number': 'document',
      'Order Total Amount': 'amount',
      'Order Total': 'amount',
      'Order Shipping Amount': 'charge.amountAsPriced',
      'Cart Discount Amount': 'discount.amountAsPriced',
    },
  },
  {
    has: ['Numéro de commande', 'Nom de l’article', 'État de la commande'],
    fields: {
      'Numéro de commande': 'document',
      'Total de la commande': 'amount',
      'Total commande': 'amount',
      'Montant de livraison de la commande': 'charge.amountAsPriced',
      'Montant de la remise du panier': 'discount.amountAsPriced',
    },
  },
  // Zoho.
  {
    has: ['Invoice ID', 'Item Price', 'Item Total'],
    fields: { Total: 'amount', Status: 'source.status', 'Item Desc': null },
  },
];
