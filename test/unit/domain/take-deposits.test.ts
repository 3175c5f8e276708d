import { describe, expect, it } from 'vitest';
import type { CorrectionState } from '../../../src/domain/invoice/credit-keeping.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import type { InvoiceStatus } from '../../../src/domain/invoice/lifecycle.ts';
import { abandonedByOperator } from '../../../src/domain/invoice/rejection-reasons.ts';
import { takeCredit, takeRest } from '../../../src/domain/invoice/take-credit.ts';
import { confirmDeposits, previewDeposits, takeDeposits } from '../../../src/domain/invoice/take-deposits.ts';
import type { Member } from '../../../src/domain/principal.ts';
import { CUSTOMER, depositRow, depositStore, type Row, START } from '../../support/deposit-store.ts';

const MINUTE = 60_000;
const OWNER = { kind: 'secret', tenant: { id: 'ten_1' }, environment: 'test' } as unknown as Member;

/** An id with a prefix and a UUID that ends with this digit. */
const idOf = (prefix: string, nth: number) => `${prefix}_00000000-0000-4000-8000-00000000000${nth}`;
const [A, B] = [idOf('inv', 1), idOf('inv', 2)] as const;
const [F, G, R] = [idOf('inv', 7), idOf('inv', 8), idOf('inv', 9)] as const;
const NOTE = idOf('crn', 1);
/** What a deposit of 100.00 at 20 % has. */
const WHOLE = { rates: [{ rate: 20, base: 10_000, tax: 2_000 }], amount: 12_000 } as const;

/** A store of two accepted deposit invoices of 100.00 at 20 %. */
function storeOf() {
  const line = { description: 'Acompte', quantity: 1, unitPrice: 10_000, taxRate: 20, amount: 10_000 } as const;
  const deposit = (id: string, number: string) => depositRow({ id, number, amount: 12_000, lines: [line] as never });
  const rows = new Map<string, Row>([
    [A, deposit(A, '2026-000001')],
    [B, deposit(B, '2026-000002')],
  ]);
  const states = new Map<string, CorrectionState>();
  const store = { now: START, rows, states };
  const now = () => store.now;
  const invoices = depositStore(rows, states);
  const requestOf = (finalId: string, depositIds: readonly string[], insteadOf: string | null = null) => ({
    finalId,
    insteadOf,
    depositIds,
    customer: CUSTOMER,
  });
  const take = (...request: Parameters<typeof requestOf>) => takeDeposits(invoices, OWNER, requestOf(...request), now);
  const find = async () => (await invoices.find(A)) as Invoice & { number: string };
  return {
    ...store,
    store,
    invoices,
    take,
    requestOf,
    kept: (id = A) => rows.get(id)?.credits?.list.map(({ creditNoteId }) => creditNoteId) ?? [],
    credit: (id = NOTE) => takeCredit(invoices, find, id, { kind: 'rest' }, now),
    rest: () => takeRest(invoices, find, { creditNoteId: NOTE, replacingId: R }, now),
    confirm: (id: string, share = WHOLE) =>
      confirmDeposits(
        invoices,
        { id, deduction: { rates: [], deposits: [{ invoice: { id: A }, ...share }] } } as unknown as Invoice,
        now,
      ),
    /** Stores a final invoice that deducts these deposits, credited by these credit notes. */
    settle: (
      id: string,
      status: InvoiceStatus,
      changes: { deposits?: string[]; credited?: string; reason?: string } = {},
    ) =>
      states.set(id, {
        status,
        originalId: null,
        rejectionReason: changes.reason ?? null,
        replaces: null,
        deduction: {
          depositIds: changes.deposits ?? [A],
          rates: [{ rate: 20, base: 5_000, tax: 1_000 }],
          credits: changes.credited
            ? [{ creditNoteId: changes.credited, rates: [{ rate: 20, base: 5_000, tax: 1_000 }] }]
            : [],
        },
      }),
    settleNote: (id: string, status: InvoiceStatus, originalId: string) =>
      states.set(id, { status, originalId, rejectionReason: null, replaces: null, deduction: null }),
  };
}

const REFUSED = { code: 'deposit_not_deductible', param: 'deposits.0' };

describe('what a final invoice takes', () => {
  it('is all that is left of each deposit, and nobody takes it again', async () => {
    const { take, kept } = storeOf();
    const { deposits } = await take(F, [B, A]);
    expect(deposits).toEqual([
      { ...WHOLE, invoice: { id: B, number: '2026-000002', issueDate: '2026-11-29', dgiId: 'DGI-1' } },
      { ...WHOLE, invoice: { id: A, number: '2026-000001', issueDate: '2026-11-29', dgiId: 'DGI-1' } },
    ]);
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    expect([kept(A), kept(B)]).toEqual([[F], [F]]);
  });

  it('is less what credit notes have taken; what they take later is refused', async () => {
    const { take, credit, invoices, now, settleNote } = { ...storeOf(), now: () => START };
    const find = async () => (await invoices.find(A)) as Invoice & { number: string };
    const amounts = [{ taxRate: 20, net: 2_500 } as const];
    await takeCredit(invoices, find, NOTE, { kind: 'amounts', amounts }, now);
    settleNote(NOTE, 'pending', A);
    const { deposits } = await take(F, [A]);
    expect(deposits[0]).toMatchObject({ rates: [{ rate: 20, base: 7_500, tax: 1_500 }], amount: 9_000 });
    await expect(credit(idOf('crn', 2))).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
  });

  it('is nothing of a deposit that is credited completely', async () => {
    const { take, credit, kept } = storeOf();
    await credit();
    await expect(take(F, [A])).rejects.toMatchObject({
      ...REFUSED,
      message: expect.stringContaining('nothing is left'),
    });
    expect(kept()).toEqual([NOTE]);
  });

  it('is nothing of a deposit that keeps as many shares as it may', async () => {
    const { take, settleNote, rows } = storeOf();
    const share = { at: START, rates: [{ rate: 20, base: 1, tax: 0 }], amount: 1 } as const;
    const notes = Array.from({ length: 100 }, (_, nth) => NOTE.slice(0, -2) + String(nth).padStart(2, '0'));
    const keep = (count: number) => {
      const list = notes.slice(0, count).map((creditNoteId) => ({ ...share, creditNoteId }));
      rows.set(A, { ...rows.get(A), credits: { version: count, list } });
    };
    for (const id of notes) settleNote(id, 'accepted', A);
    keep(100);
    const message = expect.stringContaining('too many credit notes');
    await expect(take(F, [A])).rejects.toMatchObject({ ...REFUSED, message });
    keep(99);
    expect((await take(F, [A])).deposits).toMatchObject([{ rates: [{ base: 9_901 }] }]);
  });

  it('is given back if another deposit of the same request is refused', async () => {
    const { take, kept, rows } = storeOf();
    await take(F, [B]);
    await expect(take(G, [A, B])).rejects.toMatchObject({ ...REFUSED, param: 'deposits.1' });
    expect([kept(A), kept(B)]).toEqual([[], [F]]);
    expect(rows.get(A)?.credits?.version).toBe(2);
  });

  it('is given back if the final invoice is not stored, and not if it is', async () => {
    const { take, kept, settle } = storeOf();
    const lost = await take(F, [A]);
    await lost.giveBack();
    expect(kept()).toEqual([]);
    const stored = await take(G, [A]);
    settle(G, 'pending');
    await stored.giveBack();
    expect(kept()).toEqual([G]);
  });

  it.each<[what: string, change: Row, error: object]>([
    ['of another tenant', { tenantId: 'ten_2' }, { code: 'resource_not_found' }],
    ['of the other environment', { environment: 'live' }, { code: 'resource_not_found' }],
    ['that is no deposit', { isDeposit: null }, { code: 'deposit_not_deductible' }],
    [
      'of another customer',
      { customer: { ...CUSTOMER, ice: '001525713000085' } as never },
      { code: 'deposit_not_deductible' },
    ],
    ['that is pending', { status: 'pending' }, { code: 'invoice_not_accepted' }],
    ['that is rejected', { status: 'rejected' }, { code: 'invoice_not_accepted' }],
  ])('is nothing of an invoice %s', async (_what, change, error) => {
    const { take, rows, invoices, requestOf } = storeOf();
    rows.set(A, { ...rows.get(A), ...change });
    await expect(take(F, [A])).rejects.toMatchObject({ ...error, param: 'deposits.0' });
    const { deposits, problems } = await previewDeposits(invoices, OWNER, requestOf(F, [A, B]), START);
    expect({ problems, found: deposits.map(({ invoice }) => invoice.id) }).toMatchObject({
      problems: [error],
      found: [B],
    });
  });

  it.each<[change: object, differs: string]>([
    [{ address: '4, rue des Fleurs' }, 'another address.'],
    [{ address: null }, 'another address.'],
    [{ email: 'salma@example.com' }, 'another email.'],
    [{ name: 'Salma', address: '' }, 'another name, address.'],
    [{ kind: 'foreign', country: 'FR' }, 'another kind.'],
    [{ kind: null, ice: '001234567000089' }, 'another kind.'],
    [{ kind: 'person', country: 'FR', taxNumber: '1' }, 'another country, taxNumber.'],
  ])('says what differs of a person: %j', async (change, differs) => {
    const { rows, invoices, requestOf } = storeOf();
    const person = { kind: 'person', name: 'Salma Idrissi', address: '3, rue des Fleurs' } as const;
    const absent = { ice: null, country: null, taxNumber: null, email: null };
    rows.set(A, { ...rows.get(A), customer: { ...absent, ...person } as never });
    const preview = async (customer: object) =>
      (await previewDeposits(invoices, OWNER, { ...requestOf(F, [A]), customer }, START)).problems;
    expect(await preview({ ...person, name: 'SALMA IDRISSI', address: '3 rue des fleurs' })).toEqual([]);
    const problems = await preview({ ...person, ...change });
    expect(problems).toMatchObject([{ code: 'deposit_not_deductible' }]);
    expect(problems[0]?.message).toContain(`is of another customer: Salma Idrissi. There, customer has ${differs}`);
    expect(problems[0]?.message.includes('Customers without an ICE')).toBe(!differs.includes('kind'));
    expect(problems[0]?.message).not.toContain('Fleurs');
  });

  it.each([null, undefined, '001525713000085'])('is nothing of a company with another ICE: %s', async (ice) => {
    const { rows, invoices, requestOf } = storeOf();
    rows.set(A, { ...rows.get(A), customer: { ...CUSTOMER, ice: ice === null ? null : CUSTOMER.ice } as never });
    const customer = { name: 'Atlas', ice };
    const { problems } = await previewDeposits(invoices, OWNER, { ...requestOf(F, [A]), customer }, START);
    expect(problems[0]?.message).toMatch(/There, customer has another ice\.$/);
  });

  it.each([idOf('inv', 5), 'inv_1', NOTE, ''])('is nothing of %j, which does not exist', async (id) => {
    await expect(storeOf().take(F, [id])).rejects.toMatchObject({ code: 'resource_not_found', param: 'deposits.0' });
  });

  it('is one deposit for one of many invoices at once', async () => {
    const { take, kept } = storeOf();
    const ids = Array.from({ length: 9 }, (_, nth) => idOf('inv', nth)).filter((id) => ![A, B].includes(id));
    const taken = await Promise.allSettled(ids.map((id, nth) => take(id, nth % 2 ? [A, B] : [B, A])));
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(kept(A)).toEqual(kept(B));
    expect(kept(A)).toHaveLength(1);
  });

  it('is found again by a repeated request; another one with its id is refused', async () => {
    const { take, kept, invoices, settleNote } = storeOf();
    const first = await take(F, [A]);
    expect((await take(F, [A])).deposits).toEqual(first.deposits);
    expect(kept()).toEqual([F]);
    const row = (await invoices.find(A)) as Invoice;
    const half = { rates: [{ rate: 20, base: 5_000, tax: 1_000 }], amount: 6_000 } as const;
    await invoices.keepCredits(row, row.credits.version, [
      ...row.credits.list,
      { creditNoteId: NOTE, at: START, ...half },
    ]);
    settleNote(NOTE, 'accepted', A);
    await expect(take(F, [A])).rejects.toMatchObject({ code: 'internal_error', status: 503 });
  });
});

describe('a deduction counts', () => {
  it('for five minutes without its final invoice', async () => {
    const { take, store } = storeOf();
    await take(F, [A]);
    store.now = new Date(START.getTime() + 5 * MINUTE - 1);
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    store.now = new Date(START.getTime() + 5 * MINUTE);
    expect((await take(G, [A])).deposits).toMatchObject([WHOLE]);
  });

  it('until its final invoice is rejected', async () => {
    const { take, settle, kept } = storeOf();
    await take(F, [A]);
    for (const status of ['pending', 'signing', 'transmitted', 'accepted'] as const) {
      settle(F, status);
      await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    }
    settle(F, 'rejected');
    await take(G, [A]);
    expect(kept()).toEqual([G]);
  });

  it('of an abandoned final invoice for good: the authority may hold it', async () => {
    const { take, settle } = storeOf();
    await take(F, [A]);
    settle(F, 'rejected', { reason: abandonedByOperator({ kind: 'invoice' } as Invoice, 'restored') });
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
  });

  it('not if the final invoice was stored with other deposits: one key, two requests', async () => {
    const { take, settle } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted', { deposits: [B] });
    expect((await take(G, [A])).deposits).toMatchObject([WHOLE]);
  });

  it('until accepted credit notes have credited its final invoice completely', async () => {
    const { take, settle, settleNote } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted', { credited: NOTE });
    for (const status of ['pending', 'transmitted', 'rejected'] as const) {
      settleNote(NOTE, status, F);
      await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    }
    settleNote(NOTE, 'accepted', G);
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    settleNote(NOTE, 'accepted', F);
    expect((await take(G, [A])).deposits).toMatchObject([WHOLE]);
  });

  it('also while credit notes have credited one of two rates of its final invoice, or a part of both', async () => {
    const { take, states, settleNote } = storeOf();
    await take(F, [A]);
    const [first, second] = [20, 10].map((rate) => ({ rate: rate as 20, base: 5_000, tax: 500 }));
    const rates = [first, second].flatMap((each) => each ?? []);
    const settled = (of: typeof rates) =>
      states.set(F, {
        status: 'accepted',
        originalId: null,
        rejectionReason: null,
        replaces: null,
        deduction: { depositIds: [A], rates, credits: [{ creditNoteId: NOTE, rates: of }] },
      });
    settleNote(NOTE, 'accepted', F);
    for (const credited of [rates.slice(0, 1), rates.map((each) => ({ ...each, base: 4_999 }))]) {
      settled(credited);
      await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    }
    settled(rates);
    expect((await take(G, [A])).deposits).toMatchObject([WHOLE]);
  });

  it('keeps the deposit from being credited or replaced', async () => {
    const { take, credit, rest } = storeOf();
    await take(F, [A]);
    await expect(credit()).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
    expect(await rest()).toEqual({ why: 'deducted', finalId: F });
  });
});

describe('the invoice that replaces a final one', () => {
  it('gets its share, while the replaced one has it still', async () => {
    const { take, settle, settleNote, kept, rows } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted', { credited: NOTE });
    settleNote(NOTE, 'pending', F);
    expect((await take(R, [A, B], F)).deposits).toMatchObject([WHOLE, WHOLE]);
    expect(kept()).toEqual([R]);
    // Only the share that the replaced one had goes back to it.
    const replaced = [A, B].map((id) => rows.get(id)?.credits?.list[0]?.insteadOf);
    expect(replaced).toEqual([F, undefined]);
    settle(R, 'pending', { deposits: [A, B] });
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    settleNote(NOTE, 'accepted', F);
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
    settle(R, 'accepted', { deposits: [A, B] });
    await expect(take(G, [A])).rejects.toMatchObject(REFUSED);
  });

  it('gives it back to the replaced one if it is rejected or never stored, and the next one gets it', async () => {
    const { take, settle, settleNote, kept, store } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted', { credited: NOTE });
    settleNote(NOTE, 'rejected', F);
    await take(R, [A], F);
    store.now = new Date(START.getTime() + 60 * MINUTE);
    await expect(take(idOf('inv', 6), [A])).rejects.toMatchObject(REFUSED);
    settle(R, 'rejected');
    await expect(take(idOf('inv', 6), [A])).rejects.toMatchObject(REFUSED);
    expect((await take(G, [A], F)).deposits).toMatchObject([WHOLE]);
    expect(kept()).toEqual([G]);
  });

  it('leaves it to another one that is about to replace the same invoice', async () => {
    const { take, settle, kept } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted');
    await take(R, [A], F);
    await expect(take(G, [A], F)).rejects.toMatchObject(REFUSED);
    settle(R, 'pending');
    await expect(take(G, [A], F)).rejects.toMatchObject(REFUSED);
    expect(kept()).toEqual([R]);
  });

  it('keeps it for nobody once neither is stored', async () => {
    const { take, rows } = storeOf();
    const at = new Date(START.getTime() - 6 * MINUTE);
    rows.set(A, { ...rows.get(A), credits: { version: 3, list: [{ creditNoteId: R, insteadOf: F, at, ...WHOLE }] } });
    expect((await take(G, [A])).deposits).toMatchObject([WHOLE]);
  });

  it('puts it back if it cannot be stored', async () => {
    const { take, settle, kept } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted');
    const { giveBack } = await take(R, [A], F);
    await giveBack();
    expect(kept()).toEqual([F]);
  });
});

describe('before a final invoice gets its number', () => {
  it('its share is written again, or taken again', async () => {
    const { take, confirm, settle, kept, rows } = storeOf();
    await take(F, [A]);
    settle(F, 'pending');
    expect(await confirm(F)).toBe(true);
    expect(rows.get(A)?.credits?.version).toBe(2);
    rows.set(A, { ...rows.get(A), credits: { version: 5, list: [] } });
    expect(await confirm(F)).toBe(true);
    expect(kept()).toEqual([F]);
  });

  it('it is refused if its share is gone and too little is left', async () => {
    const { take, confirm, settle, store } = storeOf();
    await take(F, [A]);
    store.now = new Date(START.getTime() + 6 * MINUTE);
    await take(G, [A]);
    settle(F, 'pending');
    expect(await confirm(F)).toBe(false);
    settle(G, 'rejected');
    expect(await confirm(F)).toBe(true);
  });

  it('it is refused if the kept share is of another request with its key, and too little is left', async () => {
    const { confirm, settle, settleNote, rows } = storeOf();
    const half = { rates: [{ rate: 20, base: 5_000, tax: 1_000 }], amount: 6_000 } as const;
    settle(F, 'pending');
    settleNote(NOTE, 'accepted', A);
    const list = [F, NOTE].map((creditNoteId) => ({ creditNoteId, at: START, ...half }));
    rows.set(A, { ...rows.get(A), credits: { version: 3, list } });
    expect(await confirm(F)).toBe(false);
    rows.set(A, { ...rows.get(A), credits: { version: 3, list: list.slice(0, 1) } });
    expect(await confirm(F)).toBe(true);
    expect(rows.get(A)?.credits?.list).toMatchObject([{ creditNoteId: F, ...WHOLE }]);
  });

  it('it is refused if less VAT is left than it deducts', async () => {
    const { confirm, settle, settleNote, rows } = storeOf();
    settle(F, 'pending');
    settleNote(NOTE, 'accepted', A);
    const rates = [{ rate: 20, base: 5_000, tax: 1_900 }] as const;
    rows.set(A, {
      ...rows.get(A),
      credits: { version: 3, list: [{ creditNoteId: NOTE, at: START, rates, amount: 6_900 }] },
    });
    const share = (tax: number) => ({ rates: [{ rate: 20, base: 4_000, tax }], amount: 5_000 }) as never;
    expect(await confirm(F, share(101))).toBe(false);
    expect(await confirm(F, share(100))).toBe(true);
  });

  it('a share that is kept is confirmed, whatever else counts by now', async () => {
    const { confirm, settle, settleNote, rows } = storeOf();
    settle(F, 'pending');
    settleNote(NOTE, 'accepted', A);
    const list = [F, NOTE].map((creditNoteId) => ({ creditNoteId, at: START, ...WHOLE }));
    rows.set(A, { ...rows.get(A), credits: { version: 3, list } });
    expect(await confirm(F)).toBe(true);
  });

  it('it keeps the claim of the replaced one', async () => {
    const { take, confirm, settle, rows } = storeOf();
    await take(F, [A]);
    settle(F, 'accepted');
    await take(R, [A], F);
    settle(R, 'pending');
    expect(await confirm(R)).toBe(true);
    expect(rows.get(A)?.credits?.list).toMatchObject([{ creditNoteId: R, insteadOf: F }]);
  });

  it('an invoice without deposits is not concerned', async () => {
    const { invoices } = storeOf();
    expect(await confirmDeposits(invoices, { id: F, deduction: null }, () => START)).toBe(true);
  });
});
