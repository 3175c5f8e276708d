import type { Specimen } from './corpus.ts';

/** Amounts in centimes. */
export interface Figures {
  /** Highest rate first. */
  readonly rates: readonly { readonly rate: number; readonly base: bigint; readonly tax: bigint }[];
  /** Tax included, with the rounding. */
  readonly amount: bigint;
}

/**
 * The figures that a document must state, without code of the service. VAT is rounded half up for each rate; that of a
 * credit note is the VAT of all that is credited so far less the VAT of the earlier credit notes, and its amount is
 * computed in the same way.
 */
export function dueFigures({ invoice, credits }: Omit<Specimen, 'name'>): Figures {
  const bases = basesOf(invoice);
  const counted = credits?.counted.map(dueFigures) ?? [];
  const rates = [...bases].map(([rate, base]) => {
    const earlier = counted.flatMap((each) => each.rates.filter((one) => one.rate === rate));
    const [netBefore, taxBefore] = [sum(earlier.map((each) => each.base)), sum(earlier.map(({ tax }) => tax))];
    return { rate, base, tax: base === 0n ? 0n : notNegative(vat(netBefore + base, rate) - taxBefore) };
  });
  if (credits === null) return { rates, amount: BigInt(invoice.amount) };
  const gross = grossOf(rates) + sum(counted.map((each) => grossOf(each.rates)));
  const whole = grossOf([...basesOf(credits.original)].map(([rate, base]) => ({ base, tax: vat(base, rate) })));
  const rounding = ((BigInt(credits.original.amount) - whole) * gross) / whole;
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

/** Bases by rate, highest rate first. */
function basesOf({ lines }: Pick<Specimen['invoice'], 'lines'>): Map<number, bigint> {
  const bases = new Map<number, bigint>();
  for (const { taxRate, quantity, unitPrice } of lines)
    bases.set(taxRate, (bases.get(taxRate) ?? 0n) + BigInt(quantity) * BigInt(unitPrice));
  return new Map([...bases].sort(([a], [b]) => b - a));
}

function grossOf(rates: readonly { readonly base: bigint; readonly tax: bigint }[]): bigint {
  return sum(rates.map(({ base, tax }) => base + tax));
}

/** Rounds half up in integers: (2 × VAT + 1) / 2 in centimes. */
function vat(base: bigint, rate: number): bigint {
  return (2n * base * BigInt(rate) + 100n) / 200n;
}

function notNegative(centimes: bigint): bigint {
  return centimes > 0n ? centimes : 0n;
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((total, part) => total + part, 0n);
}
