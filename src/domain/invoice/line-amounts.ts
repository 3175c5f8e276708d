import { exactly, PERCENT_PLACES, PRICE_PLACES, QUANTITY_PLACES } from '../decimal.ts';
import { type Centimes, divideHalfUp } from '../money.ts';
import type { LineExemption } from '../morocco/exemptions.ts';
import { type RateSums, taxIn } from './rate-sums.ts';
import { roundedShares } from './spread.ts';
import type { TaxRate } from './tax-rate.ts';
import type { Unit } from './units.ts';

// The amounts of lines (docs/decisions/0081). Everything is computed exactly and rounded once, half up.

/** A price reduction of one line: an amount or a percentage of its price. */
export interface Discount {
  /** In centimes, with tax if the line's price has it; null if it is a percentage. */
  readonly amount: Centimes | null;
  /** At most {@link PERCENT_PLACES} decimals; null if it is an amount. */
  readonly percent: number | null;
  /** Why, in words; null if not stated. */
  readonly reason: string | null;
}

/** The parts that determine the amount of a line. */
export interface PricedLine {
  /** At most {@link QUANTITY_PLACES} decimals. */
  readonly quantity: number;
  /** In centimes, at most {@link PRICE_PLACES} decimals. */
  readonly unitPrice: number;
  /** Whether the unit price and the discount include tax; absent: they do not. */
  readonly taxIncluded?: boolean | null | undefined;
  readonly discount?: Partial<Nullish<Discount>> | null | undefined;
  readonly taxRate: TaxRate;
}

type Nullish<Row> = { readonly [Name in keyof Row]: Row[Name] | null | undefined };

/** The members of a line of one piece beside its description, price, rate and amount. */
export const PIECE = {
  quantity: 1,
  unit: null,
  taxIncluded: null,
  discount: null,
  exemption: null,
  finalAmount: null,
  depositShare: null,
} as const;

/** One centime in the unit of {@link exactPrice}. */
const CENTIME = 10n ** BigInt(QUANTITY_PLACES + PRICE_PLACES);

function exactPrice({ quantity, unitPrice }: Pick<PricedLine, 'quantity' | 'unitPrice'>): bigint {
  return exactly(quantity, QUANTITY_PLACES) * exactly(unitPrice, PRICE_PLACES);
}

/** Returns the quantity times the unit price, in centimes, with tax if the unit price has it. */
export function listPriceOf(line: Pick<PricedLine, 'quantity' | 'unitPrice'>): bigint {
  const { quantity, unitPrice } = line;
  // Most are whole, and need no rounding.
  if (Number.isSafeInteger(quantity) && Number.isSafeInteger(unitPrice)) return BigInt(quantity) * BigInt(unitPrice);
  return divideHalfUp(exactPrice(line), CENTIME);
}

/** Returns the discount of a line in centimes, with tax if the unit price has it; 0 if there is none. */
function discountOf({ discount, ...line }: PricedLine): bigint {
  if (discount == null) return 0n;
  if (discount.percent == null) return BigInt(discount.amount ?? 0);
  const hundred = 100n * 10n ** BigInt(PERCENT_PLACES);
  return divideHalfUp(exactPrice(line) * exactly(discount.percent, PERCENT_PLACES), CENTIME * hundred);
}

/** Returns an amount with tax without its tax, in centimes. */
function withoutTax(amount: bigint, rate: TaxRate): bigint {
  return divideHalfUp(amount * 100n, 100n + BigInt(rate));
}

/**
 * Returns the amounts of lines of one rate without tax, in centimes, and their sums as they are stated. Prices with tax
 * and their VAT are added up before they are rounded, so the total with tax is exactly the sum of the prices. Each line
 * gets its share without tax, rounded down; the remaining centimes go to the lines that lost most by rounding.
 */
export function netsOf(rate: TaxRate, lines: readonly PricedLine[]): { nets: bigint[]; sums: RateSums } {
  const stated = lines.map((line) => listPriceOf(line) - discountOf(line));
  const withTax = stated.flatMap((amount, index) => (lines[index]?.taxIncluded ? [{ amount, index }] : []));
  const all = stated.reduce((sum, amount) => sum + amount, 0n);
  const within = withTax.reduce((sum, { amount }) => sum + amount, 0n);
  const sums: RateSums = { rate, without: all - within, within };
  if (withTax.length === 0) return { nets: stated, sums };
  const shares = roundedShares(within - taxIn(within, rate), {
    numerators: withTax.map(({ amount }) => amount * 100n),
    whole: 100n + BigInt(rate),
  });
  const nets = [...stated];
  for (const [place, { index }] of withTax.entries()) nets[index] = shares[place] ?? 0n;
  return { nets, sums };
}

/**
 * Returns the amount of a part of a line's quantity, without tax, rounded down, so that the parts of a line never
 * exceed the line.
 * @returns `isExact`: whether that is the quantity times the unit price, so that the line can state both
 */
export function partOf(line: StatedLine, quantity: number): { amount: Centimes; isExact: boolean } {
  const price = exactPrice({ ...line, quantity });
  const isExact = !line.taxIncluded && line.discount == null && !isShared(line) && price % CENTIME === 0n;
  if (isExact) return { amount: Number(price / CENTIME), isExact };
  const part = BigInt(finalAmountOf(line)) * exactly(quantity, QUANTITY_PLACES);
  return { amount: Number(part / exactly(line.quantity, QUANTITY_PLACES)), isExact };
}

/**
 * Whether a line is a whole quantity at a whole price without tax and a discount, of its own or of the whole document:
 * all that REST can create.
 */
export function isPlain(line: PricedLine & Partial<Shares>): boolean {
  const { quantity, unitPrice, taxIncluded, discount } = line;
  if (taxIncluded || discount != null || isShared(line)) return false;
  return Number.isInteger(quantity) && Number.isInteger(unitPrice);
}

type Shares = Pick<StatedLine, 'amount' | 'finalAmount' | 'depositShare'>;

/** Whether a discount, a charge or a deposit of the whole document changes the amount of a line. */
export function isShared({ amount, finalAmount, depositShare }: Partial<Shares>): boolean {
  return (finalAmount != null && finalAmount !== amount) || (depositShare ?? 0) !== 0;
}

/**
 * Returns the amount of a line without tax, with its shares of the document's discount, charge and deposits, in
 * centimes.
 */
export function finalAmountOf({ amount, finalAmount, depositShare }: Shares): Centimes {
  return (finalAmount ?? amount) - (depositShare ?? 0);
}

/** A line as documents and answers state it. */
export interface StatedLine extends PricedLine {
  readonly unit?: Unit | null | undefined;
  /** Why a line at 0 % has no VAT. */
  readonly exemption?: LineExemption | null | undefined;
  /** Without tax, in centimes. */
  readonly amount: Centimes;
  /** With the line's shares of the document's discount and charge; null or absent: the document has neither. */
  readonly finalAmount?: Centimes | null | undefined;
  /** The line's share of the deducted deposits without tax; null or absent: the document deducts none. */
  readonly depositShare?: Centimes | null | undefined;
}

/** Returns the discount of a line as it is stated, in centimes: with tax if the unit price has it. */
export function statedDiscountOf(line: PricedLine): Centimes {
  return Number(discountOf(line));
}

/** Returns the discount of a line without tax, in centimes. Added to the line's amount it gives the price before it. */
export function netDiscountOf(line: StatedLine): Centimes {
  const discount = discountOf(line);
  return Number(line.taxIncluded ? withoutTax(discount, line.taxRate) : discount);
}
