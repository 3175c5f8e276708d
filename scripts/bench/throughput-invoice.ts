import { restInvoiceBody } from '../../src/domain/invoice/create-invoice-input.ts';

/** Makes the body of the creation of an invoice with `lines` lines of 120.00 MAD each, tax included. */
export function invoiceBody(lines: number): string {
  return JSON.stringify({
    amount: 12_000 * lines,
    currency: 'MAD',
    customer: { ice: '001234567000062', name: 'Atlas Distribution SARL' },
    lines: Array.from({ length: lines }, (_, line) => ({
      description: `Prestation ${line + 1}`,
      quantity: 1,
      unit_price: 10_000,
      tax_rate: 20,
    })),
    metadata: { order: '4711' },
  });
}

/** Its input, as the service reads it. */
export const readBody = (text: string) => restInvoiceBody.parse(JSON.parse(text));
