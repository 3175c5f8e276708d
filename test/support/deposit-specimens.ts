import type { Deduction } from '../../src/domain/invoice/deduction.ts';
import { dueTotals } from '../../src/domain/invoice/due-totals.ts';
import type { RateTotal } from '../../src/domain/invoice/tax-rate.ts';
import { type PricedDocument, totalsOf } from '../../src/domain/invoice/totals.ts';
import { type Changes, type Line, line } from './adjusted-documents.ts';

/** The rates of the deposits of a sale with these rates. */
type Deposits = (rates: readonly RateTotal[]) => readonly (readonly RateTotal[])[];

/** Makes the deduction of deposits from a sale. */
function deducting(sale: PricedDocument, deposits: Deposits): Deduction {
  const rates = totalsOf(sale)?.rates ?? [];
  const deducted = deposits(rates).map((of, index) => ({
    invoice: {
      id: `inv_550e8400-e29b-41d4-a716-44665544010${index}`,
      number: index === 0 ? '2026-000007' : 'Acompte A/7 & <B>',
      issueDate: `2026-0${1 + index}-15`,
      dgiId: null,
    },
    rates: of,
    amount: of.reduce((sum, { base, tax }) => sum + base + tax, 0),
  }));
  const { deduction, problems } = dueTotals(sale, deducted);
  if (!deduction) throw new Error(`the corpus deducts what is refused: ${problems[0]?.message}`);
  return { deposits: deducted, ...deduction };
}

/** Makes deposit invoices, and final invoices that deduct deposits, for the corpus. */
export function depositDocuments(): [name: string, lines: readonly Line[], changes: Changes][] {
  const lines = [line(3, 33_333, 20), line(2, 10_001, 10), line(1, 5_000, 0)];
  const within = lines.map((each) => ({ ...each, taxIncluded: true }));
  const at = (rate: RateTotal['rate'], base: number, tax: number) => ({ rate, base, tax });
  const found: [string, readonly Line[], Changes][] = [
    ['a deposit', lines, { isDeposit: true }],
    ['a deposit of a test invoice', within, { isDeposit: true, environment: 'test' }],
  ];
  const sales: readonly [string, Deposits][] = [
    ['a deposit at one rate', () => [[at(20, 30_001, 6000)]]],
    ['a deposit of one centime', () => [[at(10, 1, 0)]]],
    ['a deposit at each rate', () => [[at(20, 50_000, 10_000), at(10, 4_999, 500), at(0, 1_000, 0)]]],
    ['two deposits', () => [[at(20, 10_001, 2000)], [at(20, 7, 1), at(10, 3_333, 333)]]],
    ['a deposit of a whole rate', (rates) => [rates.filter(({ rate }) => rate === 10)]],
    ['deposits with rounded VAT', () => Array.from({ length: 3 }, () => [at(20, 3, 1)])],
  ];
  for (const [name, deposits] of sales) {
    found.push([`final invoice: ${name}`, lines, { deduction: deducting({ lines }, deposits) }]);
    found.push([
      `final invoice, prices with tax: ${name}`,
      within,
      { deduction: deducting({ lines: within }, deposits) },
    ]);
    const adjusted = { discount: { percent: 5 }, charge: { amount: 2_500 } };
    found.push([
      `final invoice with a discount: ${name}`,
      lines,
      { ...adjusted, deduction: deducting({ lines, ...adjusted }, deposits) },
    ]);
  }
  const [, deposits] = sales[3] as (typeof sales)[number];
  const withholding = { percent: 75, certificate: { number: 'A 7', date: '2026-08-31' } };
  found.push(['final invoice: VAT withheld', lines, { deduction: deducting({ lines }, deposits), withholding }]);
  found.push(['a deposit with VAT withheld', lines, { isDeposit: true, withholding }]);
  return found;
}
