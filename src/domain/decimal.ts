/** Decimal places of a quantity: grams of a kilogram. */
export const QUANTITY_PLACES = 3;

/** Decimal places of a unit price in centimes: a dirham has four. */
export const PRICE_PLACES = 2;

/** Decimal places of a discount in percent. */
export const PERCENT_PLACES = 2;

/** Decimal places of an exchange rate: banks state four for a euro, and as many digits of weaker currencies. */
export const RATE_PLACES = 8;

/**
 * Reads a decimal number exactly: `scaled(1.5, 3)` → `1500n`. JSON writes a decimal number as the shortest text of an
 * IEEE double, so the text has the digits that the client wrote.
 * @param value not negative
 * @returns null when it has more decimals than `places`, or is so large that its text has an exponent
 */
export function scaled(value: number, places: number): bigint | null {
  if (Number.isSafeInteger(value) && value >= 0) return BigInt(value) * 10n ** BigInt(places);
  // The text of less than a millionth is `1.2e-7`.
  const [, whole = '', decimals = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  const spare = places - decimals.length - Number(exponent);
  if (whole === '' || spare < 0) return null;
  return BigInt(whole + decimals) * 10n ** BigInt(spare);
}

/**
 * {@link scaled} of a value that an input rule has checked.
 * @throws {RangeError} when the value has more decimals than `places`
 */
export function exactly(value: number, places: number): bigint {
  const exact = scaled(value, places);
  if (exact === null) throw new RangeError(`${value} is not a decimal number of at most ${places} places`);
  return exact;
}

/**
 * Writes a scaled number with a point: `decimalText(1500n, 3, 0)` → `"1.5"`. Zeros at the end are left out.
 * @param scaled not negative
 * @param least how many decimals it has at least
 */
export function decimalText(scaled: bigint, places: number, least: number): string {
  const digits = scaled.toString().padStart(places + 1, '0');
  const decimals = digits
    .slice(digits.length - places)
    .replace(/0+$/, '')
    .padEnd(least, '0');
  const whole = digits.slice(0, digits.length - places);
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

/** Writes a quantity: `"1.5"`. */
export function quantityText(quantity: number): string {
  return decimalText(exactly(quantity, QUANTITY_PLACES), QUANTITY_PLACES, 0);
}

/** Writes a unit price in dirhams, with two to four decimals: `"0.125"`. @param unitPrice in centimes */
export function unitPriceText(unitPrice: number): string {
  return decimalText(exactly(unitPrice, PRICE_PLACES), PRICE_PLACES + 2, 2);
}

/** Writes an exchange rate: `"10.8345"`. */
export function rateText(rate: number): string {
  return decimalText(exactly(rate, RATE_PLACES), RATE_PLACES, 0);
}
