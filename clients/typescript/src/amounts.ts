import type { LineInput, TaxRate } from './models.ts';

/** The largest amount of the service. Beyond it, numbers of JavaScript are not exact. */
const MOST = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Reads an amount in dirhams as centimes: `"1234.5"` → 123450. Accepts a text, because a number such as 0.1 is not
 * exact.
 * @throws RangeError if the text is no amount (plain digits with a point and at most two decimals), or exceeds the
 *   service's maximum
 */
export function centimes(dirhams: string): number {
  const [, sign = '', whole, decimals = ''] = /^(-?)(\d{1,14})(?:\.(\d{1,2}))?$/.exec(dirhams.trim()) ?? [];
  if (whole === undefined)
    throw new RangeError(`'${dirhams}' is not an amount in dirhams with at most two decimals, such as '1234.50'.`);
  return exact(BigInt(`${sign}${whole}${decimals.padEnd(2, '0')}`));
}

/** Writes centimes in dirhams: 123450 → `"1234.50"`. @throws RangeError for a fraction or a number that is not exact */
export function dirhams(centimes: number): string {
  whole('centimes', centimes);
  const digits = String(Math.abs(centimes)).padStart(3, '0');
  return `${centimes < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Totals in centimes. */
export interface Totals {
  readonly subtotal: number;
  readonly tax_total: number;
  /** Highest rate first. */
  readonly tax_totals: readonly { readonly rate: TaxRate; readonly base: number; readonly tax: number }[];
  /** The `amount` that an invoice of these lines must state. */
  readonly total: number;
}

const DEFAULT_RATE: TaxRate = 20;

/**
 * Computes the totals of lines as the service does: VAT once per rate, rounded half up.
 * @throws RangeError for a fraction, a negative quantity or price, or more than the service's maximum
 */
export function totals(lines: readonly Pick<LineInput, 'quantity' | 'unit_price' | 'tax_rate'>[]): Totals {
  const bases = new Map<TaxRate, bigint>();
  for (const { quantity, unit_price: price, tax_rate: rate } of lines) {
    const net = natural('quantity', quantity) * natural('unit_price', price);
    bases.set(rate ?? DEFAULT_RATE, (bases.get(rate ?? DEFAULT_RATE) ?? 0n) + net);
  }
  const rates = [...bases]
    .sort(([a], [b]) => b - a)
    .map(([rate, base]) => ({ rate, base, tax: (base * whole('tax_rate', rate) + 50n) / 100n }));
  const subtotal = rates.reduce((sum, { base }) => sum + base, 0n);
  const taxTotal = rates.reduce((sum, { tax }) => sum + tax, 0n);
  return {
    subtotal: exact(subtotal),
    tax_total: exact(taxTotal),
    tax_totals: rates.map(({ rate, base, tax }) => ({ rate, base: exact(base), tax: exact(tax) })),
    total: exact(subtotal + taxTotal),
  };
}

function whole(name: string, number: number): bigint {
  if (Number.isSafeInteger(number)) return BigInt(number);
  throw new RangeError(`${name} must be an integer that is exact, not ${number}.`);
}

function natural(name: string, number: number): bigint {
  if (number < 0) throw new RangeError(`${name} must not be negative, as ${number} is.`);
  return whole(name, number);
}

function exact(centimes: bigint): number {
  if (-MOST <= centimes && centimes <= MOST) return Number(centimes);
  throw new RangeError(`${centimes} centimes are more than the service takes.`);
}
