import { restInvoiceBody } from '../../src/domain/invoice/create-invoice-input.ts';

/**
 * The body of the creation of an invoice with `lines` lines of 120.00 MAD each, tax included.
 * @param nth of a customer, who has another name, another ICE and lines of 1.20 MAD more than the one before; null: the
 *   usual one
 */
export function invoiceBody(lines: number, nth: number | null = null): string {
  return JSON.stringify({
    amount: (12_000 + 120 * (nth ?? 0)) * lines,
    currency: 'MAD',
    customer:
      nth === null
        ? { ice: '001234567000062', name: 'Atlas Distribution SARL' }
        : { ice: iceOf(nth), name: `Société ${nth} SARL` },
    lines: Array.from({ length: lines }, (_, line) => ({
      description: `Prestation ${line + 1}`,
      quantity: 1,
      unit_price: 10_000 + 100 * (nth ?? 0),
      tax_rate: 20,
    })),
    metadata: { order: '4711' },
  });
}

/** The ICE of the nth customer, with its check digits. */
export function iceOf(nth: number): string {
  const beginning = (100_000_000 + nth) * 10_000;
  return `${beginning}${(97 - ((beginning * 100) % 97)).toString().padStart(2, '0')}`;
}

/** Its input, as the service reads it. */
export const readBody = (text: string) => restInvoiceBody.parse(JSON.parse(text));
