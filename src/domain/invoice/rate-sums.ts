import { divideHalfUp } from '../money.ts';
import type { TaxRate } from './tax-rate.ts';

/**
 * What is stated at one rate, in centimes. A discount of the whole document is taken from the sum that is stated as it
 * is, so one of the two may be negative.
 */
export interface RateSums {
  readonly rate: TaxRate;
  /** What is stated without tax. */
  readonly without: bigint;
  /** What is stated with tax. */
  readonly within: bigint;
}

/** Returns the VAT on a base, rounded half up. */
export function taxOn(base: bigint, rate: TaxRate): bigint {
  return divideHalfUp(base * BigInt(rate), 100n);
}

/** Returns the VAT that a sum with tax contains, rounded half up. */
export function taxIn(within: bigint, rate: TaxRate): bigint {
  return divideHalfUp(within * BigInt(rate), 100n + BigInt(rate));
}

/**
 * Returns the base and the VAT of these sums (docs/decisions/0012, 0081). Nothing has no VAT: a discount without tax of
 * all that is stated with tax would leave a centime of it.
 */
export function baseAndTax({ rate, without, within }: RateSums): { rate: TaxRate; base: bigint; tax: bigint } {
  const contained = taxIn(within, rate);
  const base = without + within - contained;
  const tax = taxOn(without, rate) + contained;
  return { rate, base, tax: base === 0n || tax < 0n ? 0n : tax };
}
