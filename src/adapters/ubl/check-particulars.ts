import { decimalsOf, isForeignCurrency } from '../../domain/currencies.ts';
import { CURRENCY } from '../../domain/money.ts';
import type { ReadElement } from './read-canonical.ts';
import { expect, isDay, money, one, optional, text } from './rules.ts';

/** Checks what a document states beside its lines and its payment. @throws {BrokenRule} */
export function expectParticulars(root: ReadElement): void {
  const period = optional(root, 'cac:InvoicePeriod');
  if (period !== null) {
    const [start, end] = [text(period, 'cbc:StartDate'), text(period, 'cbc:EndDate')];
    expect(isDay(start) && isDay(end), 'A day of the period is not a calendar date.');
    expect(start <= end, 'The period ends before it starts.');
  }
  for (const name of ['cac:OrderReference', 'cac:ContractDocumentReference']) {
    const reference = optional(root, name);
    if (reference !== null) expect(text(reference, 'cbc:ID').trim() !== '', `${name} has no number.`);
  }
  expectForeignValue(root);
}

const NOTE =
  /^Valeur convenue : (\d+)(?:,(\d+))? ([A-Z]{3}) \(1 ([A-Z]{3}) = (\d+(?:,\d{1,8})?) MAD, cours du (\d{4}-\d\d-\d\d)\)\.$/;

/** Checks that note and exchange rate say the same, and that the value at the rate is the amount to pay. */
function expectForeignValue(root: ReadElement): void {
  const exchange = optional(root, 'cac:PricingExchangeRate');
  const notes = root.children.flatMap(({ name, text: written }) =>
    name === 'cbc:Note' ? (NOTE.exec(written) ?? []) : [],
  );
  expect((exchange === null) === (notes.length === 0), 'A value in another currency needs its note and its rate.');
  if (exchange === null) return;
  const [, whole = '', decimals = '', currency = '', unit, rate = '', date = ''] = notes;
  expect(isForeignCurrency(currency) && unit === currency, `${currency} is not a currency of ISO 4217 beside MAD.`);
  expect(decimals.length === decimalsOf(currency), `The value does not have the decimals of ${currency}.`);
  const parts = ['SourceCurrencyCode', 'TargetCurrencyCode', 'CalculationRate', 'MathematicOperatorCode', 'Date'];
  const written = parts.map((part) => text(exchange, `cbc:${part}`)).join(' ');
  const noted = [currency, CURRENCY, rate.replace(',', '.'), 'multiply', date].join(' ');
  expect(written === noted, 'The exchange rate is not the one of the note.');
  expect(isDay(date) && date <= text(root, 'cbc:IssueDate'), 'The rate is of a day after that of the invoice.');
  const lines = root.children.filter(({ name }) => name === `cac:${root.name}Line`).length;
  const payable = money(one(root, 'cac:LegalMonetaryTotal'), 'cbc:PayableAmount');
  expectValue({ digits: whole + decimals, decimals: decimals.length }, rate, payable, BigInt(lines));
}

/** Decimals of a rate that count although they are not written: 10.8 is 10.8000. */
const RATE_DECIMALS = 4;

/**
 * Checks that a value times the rate equals an amount, within the rounding of the value, of the rate and of each line.
 */
function expectValue(
  value: { readonly digits: string; readonly decimals: number },
  writtenRate: string,
  centimes: bigint,
  lines: bigint,
): void {
  const [units = '', parts = ''] = writtenRate.split(',');
  const decimals = Math.max(RATE_DECIMALS, parts.length);
  const rate = BigInt(units + parts.padEnd(decimals, '0'));
  const worth = BigInt(value.digits);
  // All in the smallest fraction that value times rate can have, in centimes.
  const centime = 10n ** BigInt(value.decimals + decimals);
  const off = 100n * worth * rate - centimes * centime;
  const allowed = 50n * (worth + rate) + 25n + (lines * centime) / 2n;
  expect(off <= allowed && -off <= allowed, 'The value in another currency at its rate is not the amount to pay.');
}
