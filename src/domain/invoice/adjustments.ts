import { exactly, PERCENT_PLACES } from '../decimal.ts';
import { type Centimes, divideHalfUp } from '../money.ts';
import type { Discount } from './line-amounts.ts';
import { baseAndTax, type RateSums } from './rate-sums.ts';
import { spread } from './spread.ts';
import type { TaxRate } from './tax-rate.ts';

// Discounts and charges of the whole document (docs/decisions/0086).

/** A discount or a charge of the whole document: an amount or a percentage of the sum of its lines. */
export interface Adjustment extends Discount {
  /** Whether it includes tax; null: it does not. */
  readonly taxIncluded: boolean | null;
}

export type StatedAdjustment = { readonly [Name in keyof Adjustment]?: Adjustment[Name] | undefined };

/** The figures of a discount or a charge of the whole document, as the documents state them. */
export interface AdjustmentTotal extends StatedAdjustment {
  /** In centimes, with tax if `taxIncluded`. */
  readonly stated: Centimes;
  /** Without tax, in centimes: the sum of those of `rates`. */
  readonly net: Centimes;
  /** Its share of each rate without tax, highest rate first. Rates without a share are absent. */
  readonly rates: readonly { readonly rate: TaxRate; readonly net: Centimes }[];
}

/**
 * Returns the sum of the lines, to which a percentage refers and which no discount exceeds.
 * @param lines the sums of the lines at each rate
 */
export function weightsOf(lines: readonly RateSums[], withTax: boolean): bigint[] {
  return lines.map((sums) => {
    const { base, tax } = baseAndTax(sums);
    const weight = withTax ? base + tax : base;
    // Only discounts of lines that the rules refuse give less than nothing.
    return weight > 0n ? weight : 0n;
  });
}

/**
 * Takes a discount from the sums of a document's rates, or adds a charge to them. It is spread in proportion to the
 * sums of the lines, with tax if it includes tax. A discount that exceeds the lines counts as a discount of all of
 * them, and a charge on lines without a price counts as none; the rules refuse both.
 * @param lines the sums of the lines at each rate
 * @param sums the sums of the same rates after earlier adjustments
 */
export function adjusted(
  lines: readonly RateSums[],
  sums: readonly RateSums[],
  adjustment: StatedAdjustment,
  sign: 1n | -1n,
): { sums: RateSums[]; total: AdjustmentTotal } {
  const within = adjustment.taxIncluded === true;
  const weights = weightsOf(lines, within);
  const whole = weights.reduce((sum, weight) => sum + weight, 0n);
  const asked = amountOf(adjustment, whole);
  const amount = whole === 0n || (sign < 0n && asked > whole) ? whole : asked;
  const parts = spread(amount, weights);
  const result = sums.map((each, index) => {
    const part = sign * (parts[index] ?? 0n);
    return within ? { ...each, within: each.within + part } : { ...each, without: each.without + part };
  });
  const rates = result.flatMap((each, index) => {
    const before = sums[index] ?? each;
    const net = Number(sign * (baseAndTax(each).base - baseAndTax(before).base));
    return net === 0 ? [] : [{ rate: each.rate, net }];
  });
  const net = rates.reduce((sum, each) => sum + each.net, 0);
  return { sums: result, total: { ...adjustment, stated: Number(amount), net, rates } };
}

function amountOf({ amount, percent }: StatedAdjustment, whole: bigint): bigint {
  if (percent == null) return BigInt(amount ?? 0);
  return divideHalfUp(whole * exactly(percent, PERCENT_PLACES), 100n * 10n ** BigInt(PERCENT_PLACES));
}
