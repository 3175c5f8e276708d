/** The invoice that `rest` creates: five lines, 600.00 MAD. */
export const INVOICE = {
  amount: 60_000,
  currency: 'MAD',
  customer: { ice: '001234567000062', name: 'Atlas Distribution SARL' },
  lines: Array.from({ length: 5 }, (_, line) => ({
    description: `Prestation ${line + 1}`,
    quantity: 1,
    unit_price: 10_000,
    tax_rate: 20,
  })),
  metadata: { order: '4711' },
};
