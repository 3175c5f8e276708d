import { isDeepStrictEqual } from 'node:util';
import { QUANTITY_PLACES, scaled } from '../decimal.ts';
import type { DocumentLanguage } from '../document-language.ts';
import { type Problem, problem } from '../errors.ts';
import { type Centimes, CURRENCY, decimalOf } from '../money.ts';
import type { CreditShare, Original } from './credit.ts';
import type { Invoice, InvoiceLine } from './invoice.ts';
import { finalAmountOf, isShared, PIECE, partOf } from './line-amounts.ts';
import { LINE_WORDS } from './line-words.ts';
import { describedIn, measureOf } from './plain-line.ts';
import { taxOn } from './rate-sums.ts';
import type { RateTotal, TaxRate } from './tax-rate.ts';
import { type InvoiceTotals, type StatedDocument, statedTotals, totalsOfRates } from './totals.ts';

/** The requested credit. */
export type CreditRequest = (
  | /** All that is left. */
  { readonly kind: 'rest' }
  | { readonly kind: 'lines'; readonly lines: readonly CreditedLine[] }
  | { readonly kind: 'amounts'; readonly amounts: readonly CreditedAmount[] }
) & {
  /** The language of the texts that the service writes into the lines; absent: French. */
  readonly language?: DocumentLanguage | undefined;
};

export interface CreditedLine {
  /** The position of the line in the invoice, starting at 1. */
  readonly line: number;
  /** The credited quantity, at most that of the line, with at most `QUANTITY_PLACES` decimals. */
  readonly quantity: number;
}

export interface CreditedAmount {
  readonly taxRate: TaxRate;
  /** The amount excluding tax. */
  readonly net: Centimes;
  /** The text of the credit note's line; absent or null: the service writes it. */
  readonly description?: string | null | undefined;
}

type Parts = Pick<Invoice, 'lines' | 'amount'> & StatedDocument;

/**
 * Returns the lines of a credit note and its share of the invoice, or why it is not possible. Any of the credit notes
 * in `counted` may be rejected later. Whatever their order, they never exceed the invoice in all nor at any rate. Once
 * everything is credited, their sums are exactly those of the invoice.
 * @param original an invoice with a number
 * @param counted the shares of the invoice's credit notes that are not rejected; this function computed each of them
 */
export function creditOf(
  original: Parts & Pick<Original, 'number'>,
  counted: readonly CreditShare[],
  request: CreditRequest,
): { lines: InvoiceLine[]; share: CreditShare } | { problems: [Problem, ...Problem[]] } {
  const [fault, ...faults] = faultsOf(original, request);
  if (fault) return { problems: [fault, ...faults] };
  const left = leftOf(original, counted);
  if (left.rates.length === 0) {
    const message = `Nothing is left of invoice ${original.number}: it has been credited completely.`;
    return { problems: [problem('credit_exceeds_invoice', message)] };
  }
  const isWhole = counted.length === 0 && !original.deduction;
  const lines = linesOf(original, isWhole ? null : left, request);
  const [excess, ...others] = excessesOf(original.number, left, request, lines);
  if (excess) return { problems: [excess, ...others] };
  if (lines.every(({ amount }) => amount === 0)) {
    const message = 'lines has only lines without a price: at least one with a price is expected.';
    return { problems: [problem('invalid_request', message, 'lines')] };
  }
  return { lines, share: shareOf(original, counted, lines) };
}

/**
 * Returns the part of an invoice that the counted credit notes leave. It contains only rates with a base left; if
 * everything is credited, it has amount 0 and no rates.
 */
export function leftOf(original: Parts, counted: readonly CreditShare[]): CreditShare {
  const rates = sumsOf(original).rates.map(({ rate, base, tax }) => {
    const credited = creditedAt(rate, counted);
    return { rate, base: base - credited.base, tax: tax - credited.tax };
  });
  return { rates: rates.filter(({ base }) => base > 0), amount: original.amount - amountOf(counted) };
}

/** Returns the faults of structure (400). */
function faultsOf({ lines }: Parts, request: CreditRequest): Problem[] {
  if (request.kind === 'rest') return [];
  const faults: Problem[] = [];
  const refuse = (message: string, param: string) =>
    faults.push(problem('invalid_request', `${param} ${message}`, param));
  const entries = request.kind === 'lines' ? request.lines : request.amounts;
  if (entries.length === 0) refuse('is empty: at least one item is expected.', request.kind);
  if (request.kind === 'amounts') {
    for (const [i, { net }] of request.amounts.entries()) {
      if (!Number.isSafeInteger(net) || net <= 0) refuse('must be a positive integer of centimes.', `amounts.${i}.net`);
    }
    return faults;
  }
  const chosen = new Set<number>();
  for (const [i, { line, quantity }] of request.lines.entries()) {
    const whole = lines[line - 1];
    if (whole === undefined) {
      refuse(`must be the position of a line of the invoice, from 1 to ${lines.length}.`, `lines.${i}.line`);
    } else if (chosen.has(line)) {
      refuse(`is ${line}, as in an earlier item: a line is chosen at most once.`, `lines.${i}.line`);
    } else if (!isPart(quantity, whole)) {
      const number = isCounted(whole) ? 'an integer from 1' : `above 0, with at most ${QUANTITY_PLACES} decimals, up`;
      refuse(`must be ${number} to ${whole.quantity}, the quantity of line ${line}.`, `lines.${i}.quantity`);
    }
    chosen.add(line);
  }
  return faults;
}

/** Whether a line is counted in whole pieces, so that no fraction of a piece can be credited. */
function isCounted({ quantity, unit }: InvoiceLine): boolean {
  return unit == null && Number.isInteger(quantity);
}

function isPart(quantity: number, whole: InvoiceLine): boolean {
  if (isCounted(whole) && !Number.isInteger(quantity)) return false;
  return quantity > 0 && quantity <= whole.quantity && scaled(quantity, QUANTITY_PLACES) !== null;
}

/** Returns the exemption that all lines of a rate state; null if they differ. */
function commonExemption(lines: readonly InvoiceLine[], rate: TaxRate): InvoiceLine['exemption'] {
  const [first, ...others] = lines.filter(({ taxRate }) => taxRate === rate).map(({ exemption }) => exemption);
  return first && others.every((each) => isDeepStrictEqual(each, first)) ? first : null;
}

/**
 * Returns the credit note's lines, one for each entry of the request.
 * @param left the part of the invoice that is left; null if nothing is credited yet, so that all its lines are left
 */
function linesOf(
  { lines, number }: Pick<Invoice, 'lines'> & Pick<Original, 'number'>,
  left: CreditShare | null,
  request: CreditRequest,
): InvoiceLine[] {
  const { language = 'fr' } = request;
  const lineOf = (description: string, taxRate: TaxRate, net: Centimes) => {
    return { ...PIECE, description, unitPrice: net, taxRate, amount: net, exemption: commonExemption(lines, taxRate) };
  };
  /**
   * The credit note has no discount, charge or deposits of the whole document, so the line's share of them is in the
   * line.
   */
  const credited = (line: InvoiceLine) => {
    if (isShared(line)) {
      return { ...lineOf(describedIn(language, line), line.taxRate, finalAmountOf(line)), exemption: line.exemption };
    }
    return line.finalAmount == null && line.depositShare == null
      ? line
      : { ...line, finalAmount: null, depositShare: null };
  };
  switch (request.kind) {
    case 'rest':
      if (left === null) return lines.map(credited);
      return left.rates.map(({ rate, base }) => lineOf(LINE_WORDS[language].balance(number), rate, base));
    case 'lines':
      return request.lines.flatMap(({ line, quantity }) => {
        const chosen = lines[line - 1];
        if (chosen === undefined) return [];
        if (quantity === chosen.quantity) return credited(chosen);
        const { amount, isExact } = partOf(chosen, quantity);
        if (isExact) return { ...credited(chosen), quantity, amount };
        const description = `${chosen.description} (${measureOf({ ...chosen, quantity }, language)})`;
        return { ...lineOf(description, chosen.taxRate, amount), exemption: chosen.exemption };
      });
    case 'amounts':
      return request.amounts.map(({ taxRate, net, description }) =>
        lineOf(description ?? LINE_WORDS[language].credit(number), taxRate, net),
      );
  }
}

/** Returns a problem for each rate at which the lines take more than is left, at the first line that goes beyond it. */
function excessesOf(number: string, left: CreditShare, request: CreditRequest, lines: readonly InvoiceLine[]) {
  const problems: Problem[] = [];
  const member = request.kind === 'lines' ? 'quantity' : 'net';
  const taken = new Map<TaxRate, bigint>();
  for (const [i, { taxRate, amount }] of lines.entries()) {
    const most = left.rates.find(({ rate }) => rate === taxRate)?.base ?? 0;
    const before = taken.get(taxRate) ?? 0n;
    const after = before + BigInt(amount);
    taken.set(taxRate, after);
    if (before > BigInt(most) || after <= BigInt(most)) continue;
    const message = `At ${taxRate} %, ${decimalOf(most)} ${CURRENCY} excluding tax is left of invoice ${number}; the request takes more.`;
    problems.push(problem('credit_exceeds_invoice', message, `${request.kind}.${i}.${member}`));
  }
  return problems;
}

/**
 * Returns the share of the invoice that lines take. VAT and amount are those of everything credited so far, including
 * these lines, less `counted`. So they do not depend on the order, and rounding errors do not add up. The invoice's own
 * rounding is spread over the credit notes in proportion to their totals. After rejections, `counted` may exceed the
 * amount due so far, up to the final one; then this share has no VAT or amount.
 * @param lines together at most what is left; at least one has a price
 */
function shareOf(original: Parts, counted: readonly CreditShare[], lines: InvoiceLine[]): CreditShare {
  const { rates: wholes, gross: whole } = sumsOf(original);
  const rates = basesOf(lines).map(({ rate, base }) => {
    const credited = creditedAt(rate, counted);
    const due = dueOf(
      credited.base + base,
      wholes.find((each) => each.rate === rate),
      rate,
    );
    return { rate, base, tax: base === 0 ? 0 : Math.max(0, due - credited.tax) };
  });
  const gross = totalsOfRates([...counted, { rates }].flatMap((share) => share.rates)).gross;
  const rounding = Number((BigInt(original.amount - whole) * BigInt(gross)) / BigInt(whole));
  return { rates, amount: Math.max(0, gross + rounding - amountOf(counted)) };
}

/**
 * Returns the VAT on a base that is a part of an invoice's. VAT that prices contain may differ from base × rate by a
 * centime; the whole has exactly that of the invoice, and no part has more.
 */
function dueOf(base: Centimes, whole: RateTotal | undefined, rate: TaxRate): Centimes {
  const tax = Number(taxOn(BigInt(base), rate));
  if (whole === undefined) return tax;
  return base === whole.base ? whole.tax : Math.min(tax, whole.tax);
}

/** Returns the sums of lines by rate, highest rate first. */
function basesOf(lines: readonly InvoiceLine[]): Omit<RateTotal, 'tax'>[] {
  const bases = new Map<TaxRate, Centimes>();
  for (const { taxRate, amount } of lines) bases.set(taxRate, (bases.get(taxRate) ?? 0) + amount);
  return [...bases].map(([rate, base]) => ({ rate, base })).sort((a, b) => b.rate - a.rate);
}

function sumsOf(original: Parts): InvoiceTotals {
  const totals = statedTotals(original);
  if (!totals) throw new Error('an invoice has totals beyond the limit, which creation refuses');
  return totals;
}

function creditedAt(rate: TaxRate, counted: readonly CreditShare[]): Omit<RateTotal, 'rate'> {
  const { net, tax } = totalsOfRates(counted.flatMap(({ rates }) => rates.filter((each) => each.rate === rate)));
  return { base: net, tax };
}

function amountOf(shares: readonly CreditShare[]): Centimes {
  return shares.reduce((sum, { amount }) => sum + amount, 0);
}
