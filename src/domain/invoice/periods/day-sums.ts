import type { Kind } from '../kinds.ts';
import type { InvoiceStatus } from '../lifecycle.ts';
import { TAX_RATES, type TaxRate } from '../tax-rate.ts';
import type { SummedInvoice } from './summed-invoice.ts';

/** Sums of documents in centimes. They are bigints, because the sum of two amounts may exceed the safe integers. */
export interface Sums {
  readonly count: number;
  /** Of the stated totals, tax included. */
  readonly amount: bigint;
  /** Of the VAT that buyers withhold. */
  readonly withheld: bigint;
  readonly rates: ReadonlyMap<TaxRate, RateSum>;
}

export interface RateSum {
  /** Excluding tax. */
  readonly net: bigint;
  readonly tax: bigint;
}

/** The sums of the documents of one kind that have one status. */
export interface StatusSums extends Sums {
  readonly kind: Kind;
  readonly status: InvoiceStatus;
}

/** The sums of the documents that a tenant issued on a day. */
export interface DaySums {
  /** In Morocco, `YYYY-MM-DD`. */
  readonly date: string;
  readonly sums: readonly StatusSums[];
}

/** Returns the part of a document in the sums of its status. */
export function sumsOfOne({ amount, withheld, rates }: Pick<SummedInvoice, 'amount' | 'withheld' | 'rates'>): Sums {
  return {
    count: 1,
    amount: BigInt(amount),
    withheld: BigInt(withheld),
    rates: new Map(rates.map(({ rate, base, tax }) => [rate, { net: BigInt(base), tax: BigInt(tax) }])),
  };
}

export const NO_SUMS: Sums = { count: 0, amount: 0n, withheld: 0n, rates: new Map() };

/** Returns the sum of both, or their difference. */
export function plus(a: Sums, b: Sums, sign: 1 | -1 = 1): Sums {
  const times = BigInt(sign);
  const rates = TAX_RATES.filter((rate) => a.rates.has(rate) || b.rates.has(rate)).map((rate) => {
    const [one, other] = [a.rates.get(rate), b.rates.get(rate)];
    return [
      rate,
      {
        net: (one?.net ?? 0n) + times * (other?.net ?? 0n),
        tax: (one?.tax ?? 0n) + times * (other?.tax ?? 0n),
      },
    ] as const;
  });
  return {
    count: a.count + sign * b.count,
    amount: a.amount + times * b.amount,
    withheld: a.withheld + times * b.withheld,
    rates: new Map(rates),
  };
}
