import { expect, it } from 'vitest';
import type { CreditShare, KeptCredit } from '../../../src/domain/invoice/credit.ts';
import { NO_CREDITS } from '../../../src/domain/invoice/credit.ts';
import type { CorrectionState } from '../../../src/domain/invoice/credit-keeping.ts';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import type { InvoiceStatus } from '../../../src/domain/invoice/lifecycle.ts';
import { abandonedByOperator } from '../../../src/domain/invoice/rejection-reasons.ts';
import { confirmCredit, takeCredit } from '../../../src/domain/invoice/take-credit.ts';

const LINE = { description: 'x', quantity: 10, unitPrice: 1000, taxRate: 20, amount: 10_000 } as const;
const START = new Date('2026-11-29T10:00:00Z');
const MINUTE = 60_000;

/** A store of one accepted invoice of 10 × 10.00 at 20 %. */
function storeOf(list: readonly KeptCredit[] = []) {
  const store = { version: list.length, list, states: new Map<string, CorrectionState>(), now: START };
  const original = () =>
    ({
      id: 'inv_1',
      number: '2026-000001',
      status: 'accepted',
      amount: 12_000,
      lines: [LINE],
      credits: store.version === 0 ? NO_CREDITS : { version: store.version, list: store.list },
    }) as unknown as Invoice & { readonly number: string };
  const invoices = {
    find: async () => original(),
    correctionStatesOf: async (ids: readonly string[]) =>
      new Map(ids.flatMap((id) => (store.states.has(id) ? [[id, store.states.get(id) as CorrectionState]] : []))),
    keepCredits: async (_invoice: unknown, version: number, next: readonly KeptCredit[]) => {
      if (version !== store.version) return false;
      Object.assign(store, { version: version + 1, list: next });
      return true;
    },
  };
  const take = (id: string, quantity: number) => {
    const request = { kind: 'lines', lines: [{ line: 1, quantity }] } as const;
    return takeCredit(
      invoices,
      async () => original(),
      id,
      request,
      () => store.now,
    );
  };
  const noteOf = (id: string, share: CreditShare) =>
    ({ id, credit: { ...share, original: { id: 'inv_1' } } }) as unknown as Invoice;
  const confirm = (id: string, share: CreditShare) => confirmCredit(invoices, noteOf(id, share), () => store.now);
  const settle = (id: string, status: InvoiceStatus, changes: Partial<CorrectionState> = {}) =>
    store.states.set(id, {
      status,
      originalId: 'inv_1',
      rejectionReason: null,
      replaces: null,
      deduction: null,
      ...changes,
    });
  return { store, take, confirm, settle };
}

it('a share that was taken counts until its credit note is rejected', async () => {
  const { store, take, settle } = storeOf();
  await take('crn_1', 10);
  settle('crn_1', 'pending');
  await expect(take('crn_2', 1)).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
  settle('crn_1', 'rejected');
  expect((await take('crn_2', 10)).share.amount).toBe(12_000);
  expect(store.list.map(({ creditNoteId }) => creditNoteId)).toEqual(['crn_2']);
});

it('a share whose credit note was never stored counts for five minutes', async () => {
  const { store, take } = storeOf();
  await take('crn_dead', 10);
  store.now = new Date(START.getTime() + 5 * MINUTE - 1);
  await expect(take('crn_2', 1)).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
  store.now = new Date(START.getTime() + 5 * MINUTE);
  expect((await take('crn_2', 10)).share.amount).toBe(12_000);
});

it('a repeated request finds its own share; another request with its id is refused', async () => {
  const { store, take } = storeOf();
  await take('crn_1', 3);
  expect((await take('crn_1', 3)).share.amount).toBe(3_600);
  expect(store.list).toHaveLength(1);
  await expect(take('crn_1', 4)).rejects.toMatchObject({ code: 'internal_error', status: 503 });
});

it('concurrent credit notes take at most what there is, one after the other', async () => {
  const { store, take } = storeOf();
  const results = await Promise.allSettled(Array.from({ length: 32 }, (_, nth) => take(`crn_${nth}`, 1)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
  expect(store.list.reduce((sum, { amount }) => sum + amount, 0)).toBe(12_000);
});

it('before it gets its number, a late credit note takes its share again or finds it gone', async () => {
  const { store, take, confirm, settle } = storeOf();
  const { share } = await take('crn_late', 10);
  settle('crn_late', 'pending');
  expect(await confirm('crn_late', share)).toBe(true);
  // Whoever read the list before the credit note was stored must not drop its share any more.
  expect(store.version).toBe(2);
  expect(store.list).toMatchObject([{ creditNoteId: 'crn_late', amount: 12_000 }]);

  const lost = storeOf();
  expect(await lost.confirm('crn_late', share)).toBe(true);
  expect(lost.store.list).toMatchObject([{ creditNoteId: 'crn_late', amount: 12_000 }]);

  const taken = storeOf();
  await taken.take('crn_other', 1);
  expect(await taken.confirm('crn_late', share)).toBe(false);
});

it('at most 100 credit notes of an invoice count', async () => {
  const share = { rates: [{ rate: 20, base: 1, tax: 0 }], amount: 1 } as const;
  const full = Array.from({ length: 100 }, (_, nth) => ({ ...share, creditNoteId: `crn_${nth}`, at: START }));
  await expect(storeOf(full).take('crn_new', 1)).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
  expect((await storeOf(full.slice(1)).take('crn_new', 1)).share.rates).toMatchObject([{ base: 1_000 }]);
});

it('a share does not count if its credit note was stored for another invoice: one key, two invoices', async () => {
  const { take, settle } = storeOf();
  await take('crn_1', 10);
  settle('crn_1', 'accepted', { originalId: 'inv_2' });
  expect((await take('crn_2', 10)).share.amount).toBe(12_000);
});

it('the share of an abandoned credit note counts: the authority may hold it', async () => {
  const { take, settle } = storeOf();
  await take('crn_1', 10);
  settle('crn_1', 'rejected', { rejectionReason: abandonedByOperator({ kind: 'credit_note' } as Invoice, 'restored') });
  await expect(take('crn_2', 1)).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
});

/** A late credit note of 10.00 at 20 %, whose share was dropped meanwhile. */
const late = (changes: Partial<CreditShare> = {}): CreditShare => ({
  rates: [{ rate: 20, base: 1_000, tax: 200 }],
  amount: 1_200,
  ...changes,
});

it.each<[what: string, taken: number, share: CreditShare, fits: boolean]>([
  ['what is left exactly', 9, late(), true],
  ['more than is left in all', 5, late({ amount: 6_001 }), false],
  ['the last of a base without the last of its VAT', 9, late({ rates: [{ rate: 20, base: 1_000, tax: 199 }] }), false],
  ['a base of which nothing is left', 10, late(), false],
  ['a rate that the invoice does not have', 5, late({ rates: [{ rate: 10, base: 1_000, tax: 100 }] }), false],
])('a late credit note of %s is confirmed or not', async (_what, taken, share, fits) => {
  const { store, take, confirm, settle } = storeOf();
  await take('crn_1', taken);
  settle('crn_1', 'accepted');
  settle('crn_late', 'pending');
  expect(await confirm('crn_late', share)).toBe(fits);
  expect(store.list.map(({ creditNoteId }) => creditNoteId)).toEqual(fits ? ['crn_1', 'crn_late'] : ['crn_1']);
});

it('a late credit note beyond the number that an invoice may have is not confirmed', async () => {
  const tiny = { rates: [{ rate: 20 as const, base: 1, tax: 0 }], amount: 1 };
  const list = Array.from({ length: 100 }, (_, index) => ({ creditNoteId: `crn_${index}`, at: START, ...tiny }));
  const { confirm, settle } = storeOf(list);
  for (const { creditNoteId } of list) settle(creditNoteId, 'accepted');
  settle('crn_late', 'pending');
  expect(await confirm('crn_late', late())).toBe(false);
});
