import { type Centimes, MAX_CENTIMES } from '../money.ts';
import { type AdjustmentTotal, adjusted, type StatedAdjustment } from './adjustments.ts';
import type { Deduction } from './deduction.ts';
import type { Invoice } from './invoice.ts';
import { netsOf, type PricedLine } from './line-amounts.ts';
import { baseAndTax, type RateSums } from './rate-sums.ts';
import { spread } from './spread.ts';
import { DEFAULT_TAX_RATE, type RateTotal } from './tax-rate.ts';

export interface InvoiceTotals {
  /** One entry for each rate that occurs, highest rate first. */
  readonly rates: readonly RateTotal[];
  /** The sum of the lines, excluding tax. */
  readonly linesNet: Centimes;
  /** The reduction of that sum; null if there is none. */
  readonly discount: AdjustmentTotal | null;
  /** The amount that is added to that sum; null if there is none. */
  readonly charge: AdjustmentTotal | null;
  /** The amount that deposits take from that sum, excluding tax; 0 if there are none. */
  readonly deposits: Centimes;
  /** The total excluding tax. */
  readonly net: Centimes;
  readonly tax: Centimes;
  /** The total including tax. */
  readonly gross: Centimes;
}

/** The parts that determine the totals of an invoice. */
export interface PricedDocument<Line extends PricedLine = PricedLine> {
  readonly lines: readonly Line[];
  readonly discount?: StatedAdjustment | null | undefined;
  readonly charge?: StatedAdjustment | null | undefined;
}

/** The amounts of an invoice's lines and the totals that they have together. */
export interface LineTotals extends InvoiceTotals {
  /** The amount of each line without tax, in their order. */
  readonly amounts: readonly Centimes[];
  /** The same with the lines' shares of the document's discount and charge; null if it has neither. */
  readonly finalAmounts: readonly Centimes[] | null;
}

/**
 * Computes the totals of an invoice (docs/decisions/0012): VAT once per rate on the summed bases, rounded half up. If
 * prices include VAT, the VAT is the one that they contain (docs/decisions/0081). A discount and a charge of the whole
 * document come before VAT (docs/decisions/0086).
 * @returns null when a total is beyond {@link MAX_CENTIMES}
 */
export function totalsOf({ lines, discount, charge }: PricedDocument): LineTotals | null {
  const ofRates = byRate(lines);
  const ofLines = ofRates.map(({ sums }) => sums);
  const reduced = discount == null ? null : adjusted(ofLines, ofLines, discount, -1n);
  const raised = charge == null ? null : adjusted(ofLines, reduced?.sums ?? ofLines, charge, 1n);
  const due = (raised ?? reduced)?.sums ?? ofLines;
  const stated = due.map(baseAndTax);
  if (isBeyond(stated) || (due !== ofLines && isBeyond(ofLines.map(baseAndTax)))) return null;
  const rates = stated.map(({ rate, base, tax }) => ({ rate, base: Number(base), tax: Number(tax) }));
  const amounts = new Array<Centimes>(lines.length).fill(0);
  const finalAmounts = reduced || raised ? new Array<Centimes>(lines.length).fill(0) : null;
  for (const [place, { indices, nets }] of ofRates.entries()) {
    for (const [at, index] of indices.entries()) amounts[index] = Number(nets[at] ?? 0n);
    if (finalAmounts === null) continue;
    const shares = sharesOf(rates[place]?.base ?? 0, nets);
    for (const [at, index] of indices.entries()) finalAmounts[index] = Number(shares[at] ?? 0n);
  }
  return {
    ...totalsOfRates(rates),
    amounts,
    finalAmounts,
    linesNet: amounts.reduce((sum, amount) => sum + amount, 0),
    discount: reduced?.total ?? null,
    charge: raised?.total ?? null,
  };
}

/** Returns the lines of each rate, highest rate first: their positions, their amounts without tax and their sums. */
function byRate(lines: readonly PricedLine[]) {
  const places = Map.groupBy(lines.keys(), (index) => lines[index]?.taxRate ?? DEFAULT_TAX_RATE);
  return [...places]
    .sort(([a], [b]) => b - a)
    .map(([rate, indices]) => {
      const ofRate = indices.flatMap((index) => lines[index] ?? []);
      return { indices, ...netsOf(rate, ofRate) };
    });
}

/** Returns the sums of lines at each rate, highest rate first. */
export function sumsOf(lines: readonly PricedLine[]): RateSums[] {
  return byRate(lines).map(({ sums }) => sums);
}

function isBeyond(rates: readonly ReturnType<typeof baseAndTax>[]): boolean {
  return rates.reduce((sum, { base, tax }) => sum + base + tax, 0n) > BigInt(MAX_CENTIMES);
}

/** Spreads the rest of a rate over its lines. */
function sharesOf(base: Centimes, nets: readonly bigint[]): bigint[] {
  // Only discounts of lines that the rules refuse give less than nothing.
  const weights = nets.map((net) => (net > 0n ? net : 0n));
  return spread(base > 0 ? BigInt(base) : 0n, weights);
}

/**
 * Returns a document's lines with their amounts without tax, in centimes.
 * @param totals the totals of `document`, where they are known
 * @throws {Error} when a total is beyond {@link MAX_CENTIMES}, which the rules refuse before
 */
export function linesWithAmounts<Line extends PricedLine>(
  document: PricedDocument<Line>,
  totals = totalsOf(document),
): (Line & { amount: Centimes; finalAmount: Centimes | null; depositShare: Centimes | null })[] {
  if (!totals) throw new Error('a document has totals beyond the limit, which the rules refuse');
  const { amounts, finalAmounts } = totals;
  return document.lines.map((line, index) => ({
    ...line,
    amount: amounts[index] ?? 0,
    finalAmount: finalAmounts?.[index] ?? null,
    depositShare: null,
  }));
}

/** The parts that determine the totals that an invoice states: those of the sale, less the deposits that it deducts. */
export interface StatedDocument<Line extends PricedLine = PricedLine> extends PricedDocument<Line> {
  readonly deduction?: Pick<Deduction, 'rates'> | null | undefined;
}

/**
 * Computes the totals that an invoice states: as {@link totalsOf}, less the deposits.
 * @returns null when a total is beyond {@link MAX_CENTIMES}
 */
export function statedTotals(document: StatedDocument): LineTotals | null {
  const totals = totalsOf(document);
  return totals && document.deduction ? totalsAfter(totals, document.deduction) : totals;
}

/** Returns the totals of a sale after the deduction of deposits. */
export function totalsAfter(sale: LineTotals, { rates }: Pick<Deduction, 'rates'>): LineTotals {
  const { net, tax, gross } = totalsOfRates(rates);
  return { ...sale, rates, deposits: sale.net - net, net, tax, gross };
}

/** Returns the totals that a stored invoice or credit note states. */
export function totalsOfInvoice(
  invoice: Pick<Invoice, 'id' | 'lines' | 'discount' | 'charge' | 'credit' | 'deduction'>,
): InvoiceTotals {
  const totals = invoice.credit === null ? statedTotals(invoice) : totalsOfRates(invoice.credit.rates);
  if (!totals) throw new Error(`invoice ${invoice.id} has totals beyond the limit, which creation refuses`);
  return totals;
}

/** Returns the totals of these rates. */
export function totalsOfRates(rates: readonly RateTotal[]): InvoiceTotals {
  const net = rates.reduce((sum, { base }) => sum + base, 0);
  const tax = rates.reduce((sum, each) => sum + each.tax, 0);
  return { rates, linesNet: net, discount: null, charge: null, deposits: 0, net, tax, gross: net + tax };
}

/**
 * Whether an invoice may state this amount. Allowed are the exact total, and totals from other ways of rounding VAT
 * (per line, per rate or once over all lines; to the nearest centime, halves up or down) that are within half a centime
 * per line (docs/decisions/0012). A client's arithmetic may thus differ by some centimes. The difference is written as
 * PayableRoundingAmount. Any other amount is refused.
 * @param totals the totals of `lines`
 * @param due what remains of them after deposits; these are deducted exactly, so the rounding is that of the sale
 */
export function isTolerated(
  amount: Centimes,
  totals: LineTotals,
  lines: readonly Pick<PricedLine, 'taxRate'>[],
  due: Pick<InvoiceTotals, 'gross'> = totals,
): boolean {
  const difference = amount - due.gross;
  if (difference === 0) return true;
  if (Math.abs(difference) * 2 > lines.length) return false;
  const stated = BigInt(totals.tax) + BigInt(difference);
  const amounts = totals.finalAmounts ?? totals.amounts;
  // VAT of each line in hundredths of a centime.
  const ofLines = lines.map(({ taxRate }, index) => BigInt(amounts[index] ?? 0) * BigInt(taxRate));
  const ofRates = totals.rates.map(({ base, rate }) => BigInt(base) * BigInt(rate));
  return [ofLines, ofRates, [sumOf(ofLines)]].some((parts) => {
    const [least, most] = [49n, 50n].map((half) => sumOf(parts.map((part) => (part + half) / 100n)));
    return least !== undefined && most !== undefined && least <= stated && stated <= most;
  });
}

function sumOf(parts: readonly bigint[]): bigint {
  return parts.reduce((sum, part) => sum + part, 0n);
}
