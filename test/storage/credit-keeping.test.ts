import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { type KeptCredit, NO_CREDITS } from '../../src/domain/invoice/credit.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { confirmCredit, takeCredit } from '../../src/domain/invoice/take-credit.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const KEEPERS = 32;

let store: Store;

beforeAll(async () => {
  store = await openTestStore('credit-keeping', true);
});
afterAll(() => store.close());

async function stored(changes: Partial<Invoice> = {}): Promise<Invoice> {
  const invoice = pendingInvoice({ status: 'accepted', ...changes });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  return invoice;
}

function share(amount = 1200): KeptCredit {
  const rates = [{ rate: 20, base: amount - amount / 6, tax: amount / 6 }] as const;
  return { creditNoteId: newId('crn'), at: new Date(), rates, amount };
}

const creditsOf = async ({ id }: Invoice) => (await invoicesOf(store.db).find(id))?.credits;

it('an invoice has no credits, and stores nothing of them, until the first is kept', async () => {
  const invoice = await stored();
  expect(await creditsOf(invoice)).toEqual(NO_CREDITS);
  expect(await store.db.collection('invoices').findOne({ _id: invoice.id as never })).not.toHaveProperty('credits');
});

it('replaces the list, and counts its versions', async () => {
  const invoice = await stored();
  const other = await stored();
  const [first, second] = [share(), share(600)];
  expect(await invoicesOf(store.db).keepCredits(invoice, 0, [first])).toBe(true);
  expect(await creditsOf(invoice)).toEqual({ version: 1, list: [first] });
  expect(await invoicesOf(store.db).keepCredits(invoice, 1, [first, second])).toBe(true);
  expect(await creditsOf(invoice)).toEqual({ version: 2, list: [first, second] });
  expect(await invoicesOf(store.db).keepCredits(invoice, 2, [])).toBe(true);
  expect(await creditsOf(invoice)).toEqual({ version: 3, list: [] });
  expect(await creditsOf(other)).toEqual(NO_CREDITS);
});

it('keeps nothing over another version, earlier or later', async () => {
  const invoice = await stored();
  const { keepCredits } = invoicesOf(store.db);
  expect(await keepCredits(invoice, 1, [share()])).toBe(false);
  expect(await creditsOf(invoice)).toEqual(NO_CREDITS);
  const list = [share()];
  for (const version of [0, 1]) expect(await keepCredits(invoice, version, list)).toBe(true);
  for (const version of [0, 1, 3]) expect(await keepCredits(invoice, version, [share()])).toBe(false);
  expect(await creditsOf(invoice)).toEqual({ version: 2, list });
});

it.each([{ status: 'pending' }, { status: 'rejected' }, { kind: 'credit_note' }] as const)(
  'keeps nothing with %o',
  async (changes) => {
    const invoice = await stored(changes);
    expect(await invoicesOf(store.db).keepCredits(invoice, 0, [share()])).toBe(false);
    expect(await creditsOf(invoice)).toEqual(NO_CREDITS);
  },
);

it('keeps nothing with an invoice of another owner, or with none', async () => {
  const invoice = await stored();
  const { keepCredits } = invoicesOf(store.db);
  for (const other of [{ tenantId: 'ten_other' }, { environment: 'live' }, { id: newId('inv') }] as const)
    expect(await keepCredits({ ...invoice, ...other }, 0, [share()])).toBe(false);
  expect(await creditsOf(invoice)).toEqual(NO_CREDITS);
});

it(`of ${KEEPERS} processes at once, exactly one changes each version`, async () => {
  const invoice = await stored();
  const keepers = Array.from({ length: KEEPERS }, () => createInvoiceRepository(store.db));
  for (const version of [0, 1, 2]) {
    const shares = keepers.map(() => share());
    const kept = await Promise.all(
      keepers.map((each, index) => each.keepCredits(invoice, version, [shares[index] as KeptCredit])),
    );
    expect(kept.filter(Boolean)).toHaveLength(1);
    expect(await creditsOf(invoice)).toEqual({ version: version + 1, list: [shares[kept.indexOf(true)]] });
  }
});

it('returns the state of each document that is stored, of either kind', async () => {
  const original = { id: 'inv_1', number: '2026-000001', issueDate: '2026-11-29', dgiId: null };
  const credit = { ...share(), original, reason: 'error', note: null } as const;
  const rejected = { kind: 'credit_note', status: 'rejected', rejectionReason: 'none', credit } as const;
  const [note, invoice] = [await stored(rejected), await stored()];
  const states = await invoicesOf(store.db).correctionStatesOf([note.id, newId('crn'), invoice.id]);
  expect(states).toEqual(
    new Map([
      [note.id, { status: 'rejected', replaces: null, rejectionReason: 'none', originalId: 'inv_1', deduction: null }],
      [invoice.id, { status: 'accepted', replaces: null, rejectionReason: null, originalId: null, deduction: null }],
    ]),
  );
  expect(await invoicesOf(store.db).correctionStatesOf([])).toEqual(new Map());
});

it('a process that dies before it stores its credit note keeps the amount for five minutes, and comes too late then', async () => {
  const { id } = await stored();
  const invoices = invoicesOf(store.db);
  const start = new Date();
  const find = async () => ({ ...((await invoices.find(id)) as Invoice), number: '2026-000001' });
  const take = (creditNoteId: string, afterMs: number) => {
    const now = () => new Date(start.getTime() + afterMs);
    return takeCredit(createInvoiceRepository(store.db), find, creditNoteId, { kind: 'rest' }, now);
  };
  const [dead, next] = [newId('crn'), newId('crn')];
  const { share } = await take(dead, 0);
  await expect(take(next, 299_999)).rejects.toMatchObject({ code: 'credit_exceeds_invoice' });
  expect((await take(next, 300_000)).share).toEqual(share);

  const original = { id, number: '2026-000001', issueDate: '2026-11-29', dgiId: null };
  const credit = { ...share, original, reason: 'error', note: null } as const;
  const noteOf = (noteId: string) => stored({ id: noteId, kind: 'credit_note', status: 'pending', credit });
  const now = () => new Date(start.getTime() + 600_000);
  expect(await confirmCredit(invoices, await noteOf(next), now)).toBe(true);
  expect(await confirmCredit(invoices, await noteOf(dead), now)).toBe(false);
  expect((await invoices.find(id))?.credits.list.map(({ creditNoteId }) => creditNoteId)).toEqual([next]);
});
