import type { Specimen } from './corpus.ts';
import { figuresOf } from './recompute-document.ts';

type Rated = Pick<Specimen['invoice'], 'kind' | 'lines' | 'totals' | 'deduction'>;

/** Amounts in centimes. */
export interface Figures {
  /** Highest rate first. */
  readonly rates: readonly { readonly rate: number; readonly base: bigint; readonly tax: bigint }[];
  /** With tax and rounding. */
  readonly amount: bigint;
}

/**
 * Computes the figures that a document must state, without code of the service. VAT is rounded half up for each rate.
 * The VAT of a credit note is the VAT of everything credited so far less the VAT of the earlier credit notes; its
 * amount is computed in the same way.
 */
export function dueFigures({ invoice, credits }: Omit<Specimen, 'name'>): Figures {
  // A credit note of another system's invoice states lines like an invoice: their prices may include tax.
  if (credits === null) return { rates: ratesOf({ ...invoice, kind: 'invoice' }), amount: BigInt(invoice.amount) };
  const { original, counted } = credits;
  const whole = { rates: ratesOf(original), amount: BigInt(original.amount) };
  return creditFigures(whole, ratesOf(invoice), counted.map(dueFigures));
}

/** Computes the figures of a credit note with these bases, after the counted ones. */
export function creditFigures(
  original: Figures,
  bases: readonly { readonly rate: number; readonly base: bigint }[],
  counted: readonly Figures[],
): Figures {
  const rates = bases.map(({ rate, base }) => {
    const earlier = counted.flatMap((each) => each.rates.filter((one) => one.rate === rate));
    const [netBefore, taxBefore] = [sum(earlier.map((each) => each.base)), sum(earlier.map(({ tax }) => tax))];
    const all = netBefore + base;
    const whole = original.rates.find((each) => each.rate === rate);
    // VAT contained in prices may differ by a centime from VAT on the base; the whole has exactly the VAT of the
    // invoice.
    const due = all === whole?.base ? whole.tax : least(vat(all, rate), whole?.tax ?? 0n);
    return { rate, base, tax: base === 0n ? 0n : notNegative(due - taxBefore) };
  });
  const gross = grossOf(rates) + sum(counted.map((each) => grossOf(each.rates)));
  const whole = grossOf(original.rates);
  const rounding = ((original.amount - whole) * gross) / whole;
  return { rates, amount: notNegative(gross + rounding - sum(counted.map(({ amount }) => amount))) };
}

/** The sums of bases and VAT at each rate, and of the amounts. */
export function sumOfFigures(figures: readonly Figures[]): Figures {
  const rates = new Set(figures.flatMap((each) => each.rates.map(({ rate }) => rate)));
  const at = (rate: number) => figures.flatMap((each) => each.rates.filter((one) => one.rate === rate));
  return {
    rates: [...rates]
      .sort((a, b) => b - a)
      .map((rate) => ({ rate, base: sum(at(rate).map(({ base }) => base)), tax: sum(at(rate).map(({ tax }) => tax)) })),
    amount: sum(figures.map(({ amount }) => amount)),
  };
}

/**
 * Returns bases and VAT by rate, highest rate first, less those of deposits. A line of a credit note already includes
 * its share of the invoice's discount, charge and deposits.
 */
function ratesOf({ kind, lines, totals, deduction }: Rated): Figures['rates'] {
  if (kind === 'invoice') {
    const { discount, charge } = totals;
    return figuresOf({ lines, discount, charge }).flatMap(({ rate, base, tax }) => {
      const deducted = (deduction?.deposits ?? []).flatMap((each) => each.rates.filter((one) => one.rate === rate));
      const left = base - sum(deducted.map((each) => BigInt(each.base)));
      // A rate that is deducted completely is not invoiced again, whatever its rounded VAT.
      if (deducted.length > 0 && left === 0n) return [];
      return [{ rate, base: left, tax: tax - sum(deducted.map((each) => BigInt(each.tax))) }];
    });
  }
  const rates = [...new Set(lines.map(({ taxRate }) => taxRate))].sort((a, b) => b - a);
  return rates.map((rate) => {
    const base = sum(lines.flatMap(({ taxRate, amount }) => (taxRate === rate ? BigInt(amount) : [])));
    return { rate, base, tax: vat(base, rate) };
  });
}

function grossOf(rates: readonly { readonly base: bigint; readonly tax: bigint }[]): bigint {
  return sum(rates.map(({ base, tax }) => base + tax));
}

/** Rounds half up in integers: (2 × VAT + 1) / 2 in centimes. */
function vat(base: bigint, rate: number): bigint {
  return (2n * base * BigInt(rate) + 100n) / 200n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function notNegative(centimes: bigint): bigint {
  return centimes > 0n ? centimes : 0n;
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((total, part) => total + part, 0n);
}
