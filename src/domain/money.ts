import { exactly, PERCENT_PLACES } from './decimal.ts';

/** An integer of centimes (1/100 dirham). No code in this project represents money as a fraction. */
export type Centimes = number;

/** The only currency, ISO 4217. Amounts, totals in words and limits assume the dirham with its centimes. */
export const CURRENCY = 'MAD';
export type Currency = typeof CURRENCY;

/** The largest amount or total: the largest integer that an IEEE double represents exactly (docs/decisions/0012). */
export const MAX_CENTIMES: Centimes = Number.MAX_SAFE_INTEGER;

/**
 * `12000` → `"120.00"`: the decimal format of UBL amounts and of messages, with two decimals, a point and no grouping.
 * @param centimes a safe integer, may be negative; or a sum of any size
 */
export function decimalOf(centimes: Centimes | bigint): string {
  const digits = String(centimes < 0 ? -centimes : centimes).padStart(3, '0');
  return `${centimes < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * Splits an amount into dirhams and centimes: `12050` → `[120, 50]`.
 * @throws {RangeError} unless it is an integer from 0 to {@link MAX_CENTIMES}
 */
export function dirhamsAndCentimes(amount: Centimes): [dirhams: number, centimes: number] {
  if (!Number.isInteger(amount) || amount < 0 || amount > MAX_CENTIMES) {
    throw new RangeError(`an amount must be a whole number of centimes from 0 to ${MAX_CENTIMES}, not ${amount}`);
  }
  const centimes = amount % 100;
  return [(amount - centimes) / 100, centimes];
}

/**
 * `numerator / denominator`, rounded to the nearest integer, halves up (-0.5 is 0), exact at any size.
 * @param denominator above 0
 */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const [over, under] = [numerator * 2n + denominator, denominator * 2n];
  const rounded = over / under;
  return over < 0n && over % under !== 0n ? rounded - 1n : rounded;
}

/** Returns a percentage of an amount, rounded half up. @param percent with at most two decimals */
export function percentOf(amount: Centimes, percent: number): Centimes {
  return Number(divideHalfUp(BigInt(amount) * exactly(percent, PERCENT_PLACES), 100n * 10n ** BigInt(PERCENT_PLACES)));
}
