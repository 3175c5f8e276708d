/** Amounts are integers of centimes (1/100 of a dirham) everywhere; nothing in this project holds money in a fraction. */
export type Centimes = number;

/** The one currency of the service, ISO 4217: amounts, totals in words and limits are those of the dirham and its centimes. */
export const CURRENCY = 'MAD';
export type Currency = typeof CURRENCY;

/** The largest amount or total: what an IEEE double holds exactly (docs/decisions/0013). */
export const MAX_CENTIMES: Centimes = Number.MAX_SAFE_INTEGER;

/**
 * `12000` → `"120.00"`, the decimal form of UBL amounts and of messages: two decimals, a point, no grouping.
 * @param centimes a safe integer, negative allowed
 */
export function decimalOf(centimes: Centimes): string {
  const digits = Math.abs(centimes).toString().padStart(3, '0');
  return `${centimes < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/**
 * An amount as whole dirhams and the centimes beside them: `12050` → `[120, 50]`.
 * @throws {RangeError} unless it is a whole number from 0 to {@link MAX_CENTIMES}
 */
export function dirhamsAndCentimes(amount: Centimes): [dirhams: number, centimes: number] {
  if (!Number.isInteger(amount) || amount < 0 || amount > MAX_CENTIMES) {
    throw new RangeError(`an amount must be a whole number of centimes from 0 to ${MAX_CENTIMES}, not ${amount}`);
  }
  const centimes = amount % 100;
  return [(amount - centimes) / 100, centimes];
}

/**
 * `numerator / denominator` rounded half up (away from zero for the positive amounts of this service), exact at any size.
 * @param numerator not negative
 */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator * 2n + denominator) / (denominator * 2n);
}
