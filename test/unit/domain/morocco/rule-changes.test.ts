import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScratchCopy, scratchCopy } from '../../../support/scratch-copy.ts';

// A change of the law is one row in one file, tried in a copy of the source.

let copy: ScratchCopy;

beforeAll(async () => {
  copy = await scratchCopy();
});
afterAll(() => copy.remove());

/** What a script of the copy prints, as JSON. */
async function probe(expression: string): Promise<unknown> {
  const script = `import { TAX_RATES } from '../src/domain/invoice/tax-rate.ts';
import { rulesFrom, rulesOn } from '../src/domain/morocco/rules.ts';
const codes = (date, changes) => rulesOn(date, { kind: 'invoice', correctedOn: null, taxRates: [20], exemptions: [], total: 120_000, tax: 0,
  buyer: { kind: 'company', ice: '1', address: 'A' }, missingSellerFields: [], exemptionReason: null, servicePeriod: null,
  withholding: null, ...changes,
  terms: { operationDate: date, dueDate: date, paymentMeans: 'cash', paymentReference: 'R' } }).map(({ rule }) => rule.code);
console.log(JSON.stringify(${expression}));
`;
  await copy.write('scripts/probe.ts', script);
  return JSON.parse(await copy.run('scripts/probe.ts'));
}

it('a new rate of VAT is a row of the table of rates: accepted, and a warning before its first day', async () => {
  const inForce = "inForce: { from: '2027-01-01', source: 'loi de finances 2027', readOn: '2026-12-20' }";
  const row = `  5: { ublCategory: STANDARD, description: 'A new rate.', ${inForce} },\n`;
  await copy.edit('src/domain/invoice/tax-rate.ts', '  7: {', `${row}  7: {`);
  expect(copy.touched()).toEqual(['src/domain/invoice/tax-rate.ts']);
  const on = (date: string) => `codes('${date}', { taxRates: [5] }).includes('tax_rate_not_in_force')`;
  const says = `rulesFrom('2026-12-31').filter(({ code }) => code === 'tax_rate_not_in_force').map(({ says, validUntil }) => [says.en.slice(0, 34), validUntil])`;
  expect(await probe(`[TAX_RATES, ${on('2026-12-31')}, ${on('2027-01-01')}, ${on('2027-01-02')}, ${says}]`)).toEqual([
    [0, 5, 7, 10, 14, 20],
    true,
    false,
    false,
    [
      ['VAT has the rates 20, 10 %, and ex', '2026-12-31'],
      ['VAT has the rates 20, 10, 5 %, and', null],
    ],
  ]);
});

it('a new threshold is a row of its rule, which ends the one before', async () => {
  copy.touched();
  const row = "{ from: '2027-07-01', figures: { limit: 10_000, percent: 6 }, ...CASH_LIMITS }";
  const before = '{ from: null, figures: { limit: 20_000, percent: 6 }, ...CASH_LIMITS }';
  await copy.edit('src/domain/morocco/payment-rules.ts', before, `${before}, ${row}`);
  expect(copy.touched()).toEqual(['src/domain/morocco/payment-rules.ts']);
  const on = (date: string) => `codes('${date}', { total: 1_000_000 }).includes('cash_fine')`;
  expect(await probe(`[${on('2027-06-30')}, ${on('2027-07-01')}, ${on('2027-07-02')}]`)).toEqual([false, true, true]);
});
