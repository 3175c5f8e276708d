import { describe, expect, test } from 'vitest';
import { exampleOfError } from '../../../src/domain/error-codes.ts';
import type { CreditShare } from '../../../src/domain/invoice/credit.ts';
import { type CreditRequest, creditOf, leftOf } from '../../../src/domain/invoice/credit-share.ts';
import { describedIn } from '../../../src/domain/invoice/plain-line.ts';
import {
  amounts,
  type CreditedInvoice,
  credited,
  invoiceOf,
  line,
  ofLines,
  REST,
  totals,
} from '../../support/credits.ts';

/** The refusal: code, status, param and message of each problem. */
function refused(invoice: CreditedInvoice, counted: readonly CreditShare[], request: CreditRequest) {
  const result = creditOf(invoice, counted, request);
  if (!('problems' in result)) throw new Error('not refused');
  return result.problems.map(({ code, status, param, message }) => [code, status, param, message]);
}

describe('the lines of a credit note', () => {
  const lines = [line(5, 1000, 20, 'Conseil'), line(2, 300, 10, 'Livre'), line(1, 0, 7, 'Cadeau')];
  const invoice = invoiceOf(lines);

  test('are those of the invoice if all of it is credited at once', () => {
    expect(credited(invoice, [], REST)).toEqual({
      lines,
      share: { rates: totals(lines).rates, amount: invoice.amount },
    });
  });

  test('are one for each rate with something left if a part was credited', () => {
    const { share } = credited(invoice, [], amounts([10, 600], [20, 1]));
    expect(credited(invoice, [share], REST).lines).toEqual([line(1, 4999, 20, 'Solde de la facture 2026-000123')]);
    const other = credited(invoice, [], amounts([10, 599], [20, 1])).share;
    expect(credited(invoice, [other], REST).lines).toEqual([
      line(1, 4999, 20, 'Solde de la facture 2026-000123'),
      line(1, 1, 10, 'Solde de la facture 2026-000123'),
    ]);
  });

  test('are the chosen ones with the chosen quantities, also without a price beside others', () => {
    expect(credited(invoice, [], ofLines([3, 1], [1, 2]))).toEqual({
      lines: [line(1, 0, 7, 'Cadeau'), line(2, 1000, 20, 'Conseil')],
      share: {
        rates: [
          { rate: 20, base: 2000, tax: 400 },
          { rate: 7, base: 0, tax: 0 },
        ],
        amount: 2400,
      },
    });
  });

  test('are the chosen amounts with their texts', () => {
    const request: CreditRequest = {
      kind: 'amounts',
      amounts: [
        { taxRate: 20, net: 5, description: 'Remise' },
        { taxRate: 20, net: 7, description: null },
        { taxRate: 10, net: 9 },
      ],
    };
    expect(credited(invoice, [], request).lines).toEqual([
      line(1, 5, 20, 'Remise'),
      line(1, 7, 20, 'Avoir sur la facture 2026-000123'),
      line(1, 9, 10, 'Avoir sur la facture 2026-000123'),
    ]);
  });
});

describe('what the service writes into lines is in the language of the document', () => {
  const shared = { ...line(3, 33_333, 20, 'Étude'), unit: 'HUR', finalAmount: 99_000, depositShare: 40_001 } as const;
  const discounted = { ...line(1, 10_050, 20, 'Pièce'), taxIncluded: true, discount: { percent: 2.5 } } as const;
  const invoice = { ...invoiceOf([{ ...shared }, line(3, 1000, 10, 'Livre')]), deduction: null };

  test.each([
    ['fr', 'Étude (3 h × 333,33 MAD; remise globale − 9,99 MAD HT; acompte − 400,01 MAD HT)'],
    ['en', 'Étude (3 h × 333.33 MAD; overall discount − 9.99 MAD excl. VAT; deposit − 400.01 MAD excl. VAT)'],
    ['ar', 'Étude (3 ساعة × 333,33 MAD; خصم إجمالي − 9,99 MAD دون رسوم; تسبيق − 400,01 MAD دون رسوم)'],
  ] as const)('%s: a line with shares of the whole', (language, description) => {
    const { lines } = credited(invoice, [], { ...ofLines([1, 3]), language });
    expect(lines).toMatchObject([{ description, quantity: 1 }]);
  });

  test.each([
    ['fr', 'Livre (1,5 kg)', 'Solde de la facture 2026-000123', 'Avoir sur la facture 2026-000123'],
    ['en', 'Livre (1.5 kg)', 'Balance of invoice 2026-000123', 'Credit for invoice 2026-000123'],
    ['ar', 'Livre (1,5 كغ)', 'باقي الفاتورة 2026-000123', 'إشعار دائن عن الفاتورة 2026-000123'],
  ] as const)('%s: a part of a line, the balance, an amount', (language, part, balance, amount) => {
    const weighed = { ...line(3, 1001, 10, 'Livre'), unit: 'KGM', discount: { amount: 3 } } as const;
    const sold = invoiceOf([{ ...weighed, amount: 3000 } as never]);
    const texts = (counted: readonly CreditShare[], request: CreditRequest) =>
      credited(sold, counted, { ...request, language }).lines.map(({ description }) => description);
    expect(texts([], ofLines([1, 1.5]))).toEqual([part]);
    const first = credited(sold, [], amounts([10, 100])).share;
    expect(texts([first], REST)).toEqual([balance]);
    expect(texts([], amounts([10, 100]))).toEqual([amount]);
  });

  test('a discount and a price with tax', () => {
    expect(describedIn('en', discounted as never)).toBe('Pièce (1 × 100.50 MAD incl. VAT − 2.5 %)');
    expect(describedIn('ar', { ...discounted, discount: { amount: 150 } } as never)).toBe(
      'Pièce (1 × 100,50 MAD مع الرسوم − 1,50 MAD)',
    );
  });
});

describe('refused is', () => {
  const invoice = invoiceOf([line(5, 2000, 20), line(2, 300, 10), line(1, 0, 7)]);
  const counted = [credited(invoice, [], amounts([20, 2000])).share];
  const exceeding = (param: string, rate: number, left: string) => [
    'credit_exceeds_invoice',
    422,
    param,
    `At ${rate} %, ${left} MAD excluding tax is left of invoice 2026-000123; the request takes more.`,
  ];
  const malformed = (param: string, rest: string) => ['invalid_request', 400, param, `${param} ${rest}`];

  test('an amount beyond what is left at its rate, which is the documented example', () => {
    expect(refused(invoice, counted, amounts([20, 8001]))).toEqual([exceeding('amounts.0.net', 20, '80.00')]);
    expect(exampleOfError('credit_exceeds_invoice')).toEqual([
      exceeding('amounts.0.net', 20, '80.00')[3],
      'amounts.0.net',
    ]);
    expect(leftOf(invoice, [...counted, credited(invoice, counted, amounts([20, 8000])).share]).rates).toHaveLength(1);
  });

  test('the sum of several amounts beyond what is left at their rate, once for each rate', () => {
    expect(refused(invoice, counted, amounts([20, 8000], [10, 601], [20, 1], [20, 1], [10, 1]))).toEqual([
      exceeding('amounts.1.net', 10, '6.00'),
      exceeding('amounts.2.net', 20, '80.00'),
    ]);
    const most = Number.MAX_SAFE_INTEGER;
    expect(refused(invoice, counted, amounts([20, 1], [20, most], [20, most], [20, most]))).toEqual([
      exceeding('amounts.1.net', 20, '80.00'),
    ]);
  });

  test('a rate that the invoice does not have, or only without a price', () => {
    expect(refused(invoice, [], amounts([14, 1]))).toEqual([exceeding('amounts.0.net', 14, '0.00')]);
    expect(refused(invoice, [], amounts([7, 1]))).toEqual([exceeding('amounts.0.net', 7, '0.00')]);
  });

  test('a quantity of a line beyond what is left at its rate', () => {
    expect(refused(invoice, counted, ofLines([2, 1], [1, 5]))).toEqual([exceeding('lines.1.quantity', 20, '80.00')]);
    expect(credited(invoice, counted, ofLines([1, 4])).share.amount).toBe(9600);
  });

  test.each([REST, amounts([20, 1]), ofLines([1, 1]), ofLines([3, 1])])('anything once all is credited', (request) => {
    const all = [...counted, credited(invoice, counted, REST).share];
    expect(refused(invoice, all, request)).toEqual([
      ['credit_exceeds_invoice', 422, null, 'Nothing is left of invoice 2026-000123: it has been credited completely.'],
    ]);
  });

  test('a choice of lines without a price', () => {
    expect(refused(invoice, [], ofLines([3, 1]))).toEqual([
      malformed('lines', 'has only lines without a price: at least one with a price is expected.'),
    ]);
  });

  type Fault = [name: string, request: CreditRequest, problem: ReturnType<typeof malformed>];
  test.each<Fault>([
    ['no lines', ofLines(), malformed('lines', 'is empty: at least one item is expected.')],
    ['no amounts', amounts(), malformed('amounts', 'is empty: at least one item is expected.')],
    [
      'an unknown line',
      ofLines([1, 1], [4, 1]),
      malformed('lines.1.line', 'must be the position of a line of the invoice, from 1 to 3.'),
    ],
    [
      'line 0',
      ofLines([0, 1]),
      malformed('lines.0.line', 'must be the position of a line of the invoice, from 1 to 3.'),
    ],
    [
      'a line twice',
      ofLines([1, 1], [1, 1]),
      malformed('lines.1.line', 'is 1, as in an earlier item: a line is chosen at most once.'),
    ],
    ...[6, 0, -1, 1.5].map((quantity): Fault => {
      const problem = malformed('lines.0.quantity', 'must be an integer from 1 to 5, the quantity of line 1.');
      return [`a quantity of ${quantity}`, ofLines([1, quantity]), problem];
    }),
    ...[0, -1, 1.5].map((net): Fault => {
      const problem = malformed('amounts.1.net', 'must be a positive integer of centimes.');
      return [`an amount of ${net}`, amounts([20, 1], [20, net]), problem];
    }),
  ])('%s', (_, request, problem) => {
    expect(refused(invoice, counted, request)).toEqual([problem]);
  });
});
