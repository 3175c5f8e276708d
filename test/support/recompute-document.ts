import type { PricedLine } from '../../src/domain/invoice/line-amounts.ts';
import type { PricedDocument } from '../../src/domain/invoice/totals.ts';
import { type Fraction, fraction, nearest, per, times } from './fractions.ts';

/** The figures of one rate of a document with a discount and a charge of the whole, in centimes. */
export interface RateFigures {
  readonly rate: number;
  /** The sum of the lines, without tax. */
  readonly lines: bigint;
  /** The discount and the charge without tax. */
  readonly discount: bigint;
  readonly charge: bigint;
  readonly base: bigint;
  readonly tax: bigint;
}

interface Sums {
  readonly without: bigint;
  readonly within: bigint;
}

/**
 * Recomputes a document in rational numbers, without code of the service. Amounts stated with tax and without are
 * summed separately. A discount or a charge is spread by the largest remainder, in proportion to the sums of the lines.
 * @returns highest rate first
 */
export function figuresOf({ lines, discount, charge }: PricedDocument): RateFigures[] {
  const rates = [...new Set(lines.map(({ taxRate }) => taxRate))].sort((a, b) => b - a);
  const ofLines = rates.map((rate) => sumsAt(lines, rate));
  const shares = (stated: PricedDocument['discount']) => {
    const weights = ofLines.map((sums, index) => {
      const { base, tax } = settled(sums, rates[index] ?? 0);
      return stated?.taxIncluded ? base + tax : base;
    });
    return apportioned(amountOf(stated, sum(weights)), weights);
  };
  const [off, on] = [shares(discount), shares(charge)];
  return rates.map((rate, index) => {
    const first = ofLines[index] ?? { without: 0n, within: 0n };
    const less = moved(first, discount, -(off[index] ?? 0n));
    const more = moved(less, charge, on[index] ?? 0n);
    const [before, between, after] = [first, less, more].map((sums) => settled(sums, rate)) as [Due, Due, Due];
    return {
      rate,
      lines: before.base,
      discount: before.base - between.base,
      charge: after.base - between.base,
      ...after,
    };
  });
}

/** Returns the sum of the lines, with or without tax. */
export function wholeOf(lines: readonly PricedLine[], withTax: boolean): bigint {
  return sum(figuresOf({ lines }).map(({ base, tax }) => (withTax ? base + tax : base)));
}

/** Returns the stated amount of a line: quantity times price less its discount, with tax if its price includes it. */
export function statedOf({ quantity, unitPrice, discount }: PricedLine): bigint {
  const price = times(fraction(quantity), fraction(unitPrice));
  const { amount, percent } = discount ?? {};
  return (
    nearest(price) -
    (percent == null ? BigInt(amount ?? 0) : nearest(times(price, times(fraction(percent), per(1, 100)))))
  );
}

interface Due {
  readonly base: bigint;
  readonly tax: bigint;
}

function sumsAt(lines: readonly PricedLine[], rate: number): Sums {
  const at = lines.filter(({ taxRate }) => taxRate === rate);
  const of = (isWithin: boolean) => sum(at.flatMap((line) => (!!line.taxIncluded === isWithin ? statedOf(line) : [])));
  return { without: of(false), within: of(true) };
}

function settled({ without, within }: Sums, rate: number): Due {
  const contained = nearest(per(within * BigInt(rate), 100 + rate));
  const base = without + within - contained;
  const tax = nearest(per(without * BigInt(rate), 100)) + contained;
  if (base > 0n && tax >= 0n) return { base, tax };
  // A discount with tax has exceeded the prices with tax; the rest of the total stays as base.
  return { base: within < 0n ? base + tax : base, tax: 0n };
}

function amountOf(stated: PricedDocument['discount'], whole: bigint): bigint {
  if (stated?.percent == null) return BigInt(stated?.amount ?? 0);
  const share: Fraction = times(fraction(stated.percent), per(whole, 100));
  return nearest(share);
}

/**
 * Spreads an amount: first whole centimes, then one centime each to the largest remainders. Equal remainders: the first
 * part.
 */
export function apportioned(amount: bigint, weights: readonly bigint[]): bigint[] {
  const whole = sum(weights);
  if (whole === 0n) return weights.map(() => 0n);
  const parts = weights.map((weight) => (amount * weight) / whole);
  for (let left = amount - sum(parts); left > 0n; left--) {
    // A part that has received its centime is above its share, so it gets no other.
    const rests = weights.map((weight, index) => amount * weight - (parts[index] ?? 0n) * whole);
    const most = rests.reduce((best, rest) => (rest > best ? rest : best));
    const index = rests.indexOf(most);
    parts[index] = (parts[index] ?? 0n) + 1n;
  }
  return parts;
}

function moved({ without, within }: Sums, stated: PricedDocument['discount'], by: bigint): Sums {
  return stated?.taxIncluded ? { without, within: within + by } : { without: without + by, within };
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((total, part) => total + part, 0n);
}
