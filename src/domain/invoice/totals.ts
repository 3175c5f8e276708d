import { type Centimes, divideHalfUp, MAX_CENTIMES } from '../money.ts';
import type { Invoice } from './invoice.ts';
import { netsOf, type PricedLine } from './line-amounts.ts';
import { DEFAULT_TAX_RATE, type RateTotal, type TaxRate } from './tax-rate.ts';

export interface InvoiceTotals {
  /** One entry for each rate that occurs, highest rate first. */
  readonly rates: readonly RateTotal[];
  /** The total excluding tax. */
  readonly net: Centimes;
  readonly tax: Centimes;
  /** The total including tax. */
  readonly gross: Centimes;
}

/** What determines the totals of an invoice. */
export interface PricedDocument<Line extends PricedLine = PricedLine> {
  readonly lines: readonly Line[];
}

/** The amounts of an invoice's lines and the totals that they have together. */
export interface LineTotals extends InvoiceTotals {
  /** The amount of each line without tax, in their order. */
  readonly amounts: readonly Centimes[];
}

/**
 * Computes the totals of an invoice (docs/decisions/0012): VAT once per rate on the summed bases, rounded half up. Where
 * prices include VAT, it is what they contain (docs/decisions/0081).
 * @returns null when a total is beyond {@link MAX_CENTIMES}
 */
export function totalsOf({ lines }: PricedDocument): LineTotals | null {
  const places = Map.groupBy(lines.keys(), (index) => lines[index]?.taxRate ?? DEFAULT_TAX_RATE);
  const amounts = new Array<Centimes>(lines.length).fill(0);
  let net = 0n;
  let tax = 0n;
  const rates: RateTotal[] = [];
  for (const [rate, indices] of [...places].sort(([a], [b]) => b - a)) {
    const ofRate = indices.flatMap((index) => lines[index] ?? []);
    const { nets, contained } = netsOf(rate, ofRate);
    let base = 0n;
    let taxed = 0n;
    for (const [place, amount] of nets.entries()) {
      base += amount;
      if (!ofRate[place]?.taxIncluded) taxed += amount;
      amounts[indices[place] ?? 0] = Number(amount);
    }
    const rateTax = taxOn(taxed, rate) + contained;
    net += base;
    tax += rateTax;
    rates.push({ rate, base: Number(base), tax: Number(rateTax) });
  }
  if (net + tax > BigInt(MAX_CENTIMES)) return null;
  return { amounts, rates, net: Number(net), tax: Number(tax), gross: Number(net + tax) };
}

/**
 * Returns a document's lines with their amounts without tax, in centimes.
 * @param totals the totals of `document`, where they are known
 * @throws {Error} when a total is beyond {@link MAX_CENTIMES}, which the rules refuse before
 */
export function linesWithAmounts<Line extends PricedLine>(
  document: PricedDocument<Line>,
  totals = totalsOf(document),
): (Line & { amount: Centimes })[] {
  if (!totals) throw new Error('a document has totals beyond the limit, which the rules refuse');
  return document.lines.map((line, index) => ({ ...line, amount: totals.amounts[index] ?? 0 }));
}

/** Returns the VAT on a base, rounded half up. */
export function taxOn(base: bigint, rate: TaxRate): bigint {
  return divideHalfUp(base * BigInt(rate), 100n);
}

/** Returns the totals that a stored invoice or credit note states. */
export function totalsOfInvoice(invoice: Pick<Invoice, 'id' | 'lines' | 'credit'>): InvoiceTotals {
  const totals = invoice.credit === null ? totalsOf(invoice) : totalsOfRates(invoice.credit.rates);
  if (!totals) throw new Error(`invoice ${invoice.id} has totals beyond the limit, which creation refuses`);
  return totals;
}

/** Returns the totals of these rates. */
export function totalsOfRates(rates: readonly RateTotal[]): InvoiceTotals {
  const net = rates.reduce((sum, { base }) => sum + base, 0);
  const tax = rates.reduce((sum, each) => sum + each.tax, 0);
  return { rates, net, tax, gross: net + tax };
}

/**
 * Whether an invoice may state this amount. Allowed are the exact total, and totals from other ways of rounding VAT
 * (per line, per rate or once over all lines; to the nearest centime, halves up or down) that are within half a centime
 * per line (docs/decisions/0012). A client's arithmetic may thus differ by some centimes. The difference is written as
 * PayableRoundingAmount. Any other amount is refused.
 * @param totals the totals of `lines`
 */
export function isTolerated(
  amount: Centimes,
  totals: LineTotals,
  lines: readonly Pick<PricedLine, 'taxRate'>[],
): boolean {
  if (amount === totals.gross) return true;
  if (Math.abs(amount - totals.gross) * 2 > lines.length) return false;
  const stated = BigInt(amount) - BigInt(totals.net);
  // VAT of each line in hundredths of a centime.
  const ofLines = lines.map(({ taxRate }, index) => BigInt(totals.amounts[index] ?? 0) * BigInt(taxRate));
  const ofRates = totals.rates.map(({ base, rate }) => BigInt(base) * BigInt(rate));
  return [ofLines, ofRates, [sumOf(ofLines)]].some((parts) => {
    const [least, most] = [49n, 50n].map((half) => sumOf(parts.map((part) => (part + half) / 100n)));
    return least !== undefined && most !== undefined && least <= stated && stated <= most;
  });
}

function sumOf(parts: readonly bigint[]): bigint {
  return parts.reduce((sum, part) => sum + part, 0n);
}
