import { divideHalfUp } from '../money.ts';
import type { TaxRate } from './tax-rate.ts';

/**
 * The stated sums at one rate, in centimes. A discount of the whole document is deducted from the sum of its own kind,
 * with or without tax, so one of the two may be negative.
 */
export interface RateSums {
  readonly rate: TaxRate;
  /** The sum that is stated without tax. */
  readonly without: bigint;
  /** The sum that is stated with tax. */
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
 * Returns the base and the VAT of these sums (docs/decisions/0012, 0081). A base of nothing has no VAT, of which
 * rounding may leave a centime. A discount with tax reduces the total with tax by exactly its amount, so that centime
 * becomes the base.
 */
export function baseAndTax({ rate, without, within }: RateSums): { rate: TaxRate; base: bigint; tax: bigint } {
  const contained = taxIn(within, rate);
  const base = without + within - contained;
  const tax = taxOn(without, rate) + contained;
  if (base !== 0n && tax >= 0n) return { rate, base, tax };
  return { rate, base: within < 0n ? base + tax : base, tax: 0n };
}
