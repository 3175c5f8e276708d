/** Characters that people write between groups of digits: spaces, apostrophes, commas, dots. */
const GROUPS = /^\d{1,3}(?:[\s'’.,]\d{3})+$/;
const DECIMALS = /[.,](\d{1,2})$/;
const MOST_DIGITS = 13;

/**
 * Reads an amount in any usual spelling: `1 234,50`, `1234.5`, `1,234.50`, `1.234,5`, `-1234`.
 * @param text folded
 * @returns centimes without the sign; null if the text is no amount
 */
export function amountOf(text: string): number | null {
  const unsigned = text.replace(/^[-−+]/, '');
  const [end, decimals = ''] = DECIMALS.exec(unsigned) ?? [''];
  const whole = unsigned.slice(0, unsigned.length - end.length);
  if (!/^\d+$/.test(whole) && !GROUPS.test(whole)) return null;
  const digits = whole.replace(/\D/g, '');
  return digits.length > MOST_DIGITS ? null : Number(digits + decimals.padEnd(2, '0'));
}
