import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeInvoice } from '../../../src/adapters/ubl/write-invoice.ts';
import { newInvoice } from '../../../src/domain/invoice/create-invoice.ts';
import type { CreditShare } from '../../../src/domain/invoice/credit.ts';
import type { CorrectionState } from '../../../src/domain/invoice/credit-keeping.ts';
import { creditOf } from '../../../src/domain/invoice/credit-share.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { ruleProblems } from '../../../src/domain/invoice/invoice-rules.ts';
import { plainAmount, plainQuantity, plainUnitPrice } from '../../../src/domain/invoice/plain-line.ts';
import { takeCredit } from '../../../src/domain/invoice/take-credit.ts';
import { takeDeposits } from '../../../src/domain/invoice/take-deposits.ts';
import { totalsOfInvoice } from '../../../src/domain/invoice/totals.ts';
import type { Member } from '../../../src/domain/principal.ts';
import { anySale, type Deposit, type Sale } from '../../support/any-sale.ts';
import { CUSTOMER, depositRow, depositStore, type Row, START } from '../../support/deposit-store.ts';
import { leftOf, remainderOf } from '../../support/recompute-deposits.ts';
import { apportioned, figuresOf } from '../../support/recompute-document.ts';
import { creditFigures, type Figures, sumOfFigures } from '../../support/recompute-figures.ts';
import { sampled } from '../../support/samples.ts';
import { sampleInvoice } from '../ubl/sample-invoice.ts';

const OWNER = { kind: 'secret', tenant: { id: 'ten_1' }, environment: 'test' } as unknown as Member;
/** How many sales are tried. */
const ALL = sampled(20_000, 20);
const MINUTE = 60_000;
/** The least amount of an invoice, in centimes. */
const LEAST = 100n;

const idOf = (prefix: string, nth: number) => `${prefix}_00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

/** As `expect`, which is too slow for so many comparisons. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not as due: ${what}`);
}

function same(stated: CreditShare | Figures, due: Figures, what: string): void {
  const textOf = ({ rates, amount }: CreditShare | Figures) =>
    `${amount}: ${rates.map(({ rate, base, tax }) => `${base} + ${tax} at ${rate} %`)}`;
  must(textOf(stated) === textOf(due), `${what} is ${textOf(stated)}; ${textOf(due)} is due`);
}

/** Deposits in a store, and what is due of them. */
function ledgerOf(deposits: readonly Deposit[]) {
  const rows = new Map<string, Row>();
  const states = new Map<string, CorrectionState>();
  let now = START;
  let nth = 100;
  const invoices = depositStore(rows, states);
  const ids = deposits.map((_, index) => idOf('inv', index));
  const figures = deposits.map(({ document, rounding }, index) => {
    const rates = figuresOf(document).map(({ rate, base, tax }) => ({ rate, base, tax }));
    const amount = sum(rates.map(({ base, tax }) => base + tax)) + BigInt(rounding);
    const invoice = newInvoice(OWNER, inputOf(document, { amount: Number(amount), isDeposit: true }), START);
    const row = depositRow({ ...invoice, customer: CUSTOMER as never, status: 'accepted' });
    rows.set(ids[index] ?? '', { ...row, id: ids[index], number: `2026-${index}` } as Row);
    return { rates, amount };
  });
  const take = (finalId: string, depositIds: readonly string[]) =>
    takeDeposits(invoices, OWNER, { finalId, insteadOf: null, depositIds, customer: CUSTOMER }, () => now);
  const settle = (id: string, status: Invoice['status'], change: Partial<CorrectionState> = {}) =>
    states.set(id, { status, originalId: null, rejectionReason: null, replaces: null, deduction: null, ...change });
  const later = () => {
    now = new Date(now.getTime() + 6 * MINUTE);
  };

  /** Credits a part of what is left. @returns what counts of it since */
  async function credit(
    id: string,
    left: Figures,
    whole: Figures,
    counted: readonly Figures[],
    part: number,
    fate: string,
  ) {
    const bases = left.rates.map(({ rate, base }) => ({ rate, base: BigInt(Math.floor(Number(base) * part)) }));
    const some = bases.filter(({ base }) => base > 0n);
    if (some.length === 0) return [];
    const noteId = idOf('crn', nth++);
    const amounts = some.map(({ rate, base }) => ({ taxRate: rate as 20, net: Number(base) }));
    const find = async () => (await invoices.find(id)) as Invoice & { number: string };
    const { share } = await takeCredit(invoices, find, noteId, { kind: 'amounts', amounts }, () => now);
    const due = creditFigures(whole, some, counted);
    same(share, due, 'a credit note of a deposit');
    if (fate === 'lost') later();
    else settle(noteId, fate === 'counts' ? 'accepted' : 'rejected', { originalId: id });
    return fate === 'counts' ? [due] : [];
  }

  /** Deducts a deposit in a final invoice that does not keep it. */
  async function deductInVain(id: string, left: Figures, fate: string): Promise<void> {
    if (left.rates.length === 0) return;
    const [finalId, noteId] = [idOf('inv', nth++), idOf('crn', nth++)];
    const { deposits, giveBack } = await take(finalId, [id]);
    for (const each of deposits) same(each, left, 'an earlier deduction');
    const rates = [{ rate: 20, base: 1000, tax: 200 }] as const;
    const credits = [{ creditNoteId: noteId, rates }];
    if (fate === 'refused') await giveBack();
    else if (fate === 'lost') later();
    else {
      const isRejected = fate === 'rejected';
      const deduction = { depositIds: [id], rates, credits: isRejected ? [] : credits };
      settle(finalId, isRejected ? 'rejected' : 'accepted', { deduction });
      settle(noteId, 'accepted', { originalId: finalId });
    }
  }

  /** Lets happen what happened to a deposit before. @returns what is left of it */
  async function live(index: number): Promise<Figures> {
    const [id = '', whole = { rates: [], amount: 0n }] = [ids[index], figures[index]];
    const counted: Figures[] = [];
    for (const taking of deposits[index]?.history ?? []) {
      const left = leftOf(whole, counted);
      if (taking.kind === 'final') await deductInVain(id, left, taking.fate);
      else counted.push(...(await credit(id, left, whole, counted, taking.part, taking.fate)));
    }
    return leftOf(whole, counted);
  }
  return { ids, live, take, keptOf: (id: string) => rows.get(id)?.credits?.list ?? [] };
}

function inputOf({ lines, discount, charge }: Sale['sale'], changes: object) {
  return {
    currency: 'MAD' as const,
    customer: { ice: CUSTOMER.ice, name: CUSTOMER.name },
    lines: lines.map((line) => ({ ...line, description: 'Étude' })),
    discount,
    charge,
    metadata: {},
    ...changes,
  } as Parameters<typeof newInvoice>[1];
}

/** Compares a final invoice with what is due, to the centime. */
function compare(invoice: Invoice, sale: Sale['sale'], deposits: readonly Figures[], due: Figures): void {
  const totals = totalsOfInvoice(invoice);
  const taken = sumOfFigures(deposits).rates;
  same({ rates: totals.rates, amount: totals.gross }, due, 'the invoice');
  same({ rates: invoice.deduction?.rates ?? [], amount: totals.net + totals.tax }, due, 'its deduction');
  must(totals.deposits === Number(sum(taken.map(({ base }) => base))), 'the deposits without tax');
  const added = totals.linesNet - (totals.discount?.net ?? 0) + (totals.charge?.net ?? 0) - totals.deposits;
  must(added === totals.net, `${totals.linesNet} less and more is ${added}, not ${totals.net}`);
  for (const { rate, base } of figuresOf(sale)) {
    const lines = invoice.lines.filter(({ taxRate }) => taxRate === rate);
    const finals = lines.map(({ amount, finalAmount }) => BigInt(finalAmount ?? amount));
    const share = taken.find((each) => each.rate === rate)?.base ?? 0n;
    const shares = lines.map(({ depositShare }) => BigInt(depositShare ?? -1));
    must(String(shares) === String(apportioned(share, finals)), `the shares of the lines at ${rate} %: ${shares}`);
    const plain = lines.map((line) => BigInt(plainAmount(line)));
    must(
      plain.every((amount) => amount >= 0n) && sum(plain) === base - share,
      `what REST shows at ${rate} %: ${plain}`,
    );
  }
  for (const { rate, base, tax } of totals.rates)
    must(Math.abs(tax * 100 - base * rate) < 100 * 100, `VAT near ${rate} % of ${base}, not ${tax}`);
  for (const line of invoice.lines)
    must(BigInt(plainQuantity(line)) * BigInt(plainUnitPrice(line)) === BigInt(plainAmount(line)), 'a line of REST');
  // Throws if the check before signing finds other figures than these.
  writeInvoice(sampleInvoice({ ...sale, issueDate: '2026-11-29', lines: invoice.lines, deduction: invoice.deduction }));
  const credited = creditOf({ ...invoice, number: '2026-9' }, [], { kind: 'rest' });
  if ('problems' in credited) throw new Error(credited.problems[0].message);
  const rates = due.rates.filter(({ base }) => base > 0n);
  same(credited.share, { rates, amount: due.amount }, 'its credit note');
  must(sum(credited.lines.map(({ amount }) => BigInt(amount))) === BigInt(totals.net), 'the lines of its credit note');
}

test('of a sale with deposits, every figure is the one of an independent computation in rational numbers', async () => {
  const seen = { compared: 0, refused: 0, small: 0, used: 0, whole: 0 };
  await fc.assert(
    fc.asyncProperty(anySale, async ({ deposits, sale }) => {
      const { ids, live, take, keptOf } = ledgerOf(deposits);
      const left = await Promise.all(deposits.map((_, index) => live(index)));
      const finalId = idOf('inv', 99);
      const usable = ids.filter((_, index) => left[index]?.rates.length !== 0);
      if (usable.length < ids.length) {
        seen.used++;
        const error = await take(finalId, ids).then(
          () => null,
          (error) => error,
        );
        must(error?.code === 'deposit_not_deductible', `${error} for a deposit of which nothing is left`);
        must(!ids.some((id) => keptOf(id).some(({ creditNoteId }) => creditNoteId === finalId)), 'it is given back');
      }
      if (usable.length === 0) return;
      const taken = await take(finalId, usable);
      const dueOf = left.filter(({ rates }) => rates.length > 0);
      for (const [index, each] of taken.deposits.entries()) same(each, dueOf[index] as Figures, 'a deduction');
      const due = remainderOf(sale, dueOf);
      const input = inputOf(sale, { amount: Number(due?.amount ?? 100_000), deposits: usable });
      if (ruleProblems({ ...input, amount: undefined }, START).length > 0) return;
      const problems = ruleProblems({ ...input, deducted: taken.deposits }, START);
      const code = due === null ? 'deposit_not_deductible' : due.amount < LEAST ? 'amount_too_small' : undefined;
      must(problems[0]?.code === code, `${problems[0]?.message}; due is ${code}`);
      if (due === null) seen.refused++;
      else if (due.amount < LEAST) seen.small++;
      else {
        seen.compared++;
        if (due.rates.length < figuresOf(sale).length) seen.whole++;
        compare(newInvoice(OWNER, input, START, { deposits: taken.deposits }), sale, dueOf, due);
      }
    }),
    { numRuns: ALL },
  );
  expect(seen.compared).toBeGreaterThan(ALL / 2);
  for (const name of ['refused', 'used', 'whole'] as const) expect(seen[name]).toBeGreaterThan(ALL / 50);
});
