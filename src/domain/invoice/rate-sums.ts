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
 * Returns the base and the VAT of these sums (docs/decisions/0012, 0081). Nothing has no VAT, of which rounding may leave
 * a centime. A discount with tax takes exactly what it says from the total with tax, so that centime becomes the base.
 */
export function baseAndTax({ rate, without, within }: RateSums): { rate: TaxRate; base: bigint; tax: bigint } {
  const contained = taxIn(within, rate);
  const base = without + within - contained;
  const tax = taxOn(without, rate) + contained;
  if (base !== 0n && tax >= 0n) return { rate, base, tax };
  return { rate, base: within < 0n ? base + tax : base, tax: 0n };
}
