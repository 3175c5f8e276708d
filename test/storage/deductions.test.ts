import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Credit, CreditShare } from '../../src/domain/invoice/credit.ts';
import type { DeductedDeposit } from '../../src/domain/invoice/deduction.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { takeCredit } from '../../src/domain/invoice/take-credit.ts';
import { confirmDeposits, takeDeposits } from '../../src/domain/invoice/take-deposits.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Member } from '../../src/domain/principal.ts';
import type { Store } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const MINUTE_MS = 60_000;
const tenantId = newId('ten');
const OWNER = { kind: 'secret', tenant: { id: tenantId }, environment: 'test' } as unknown as Member;
const CUSTOMER = {
  kind: 'company',
  ice: '001234567000089',
  country: null,
  taxNumber: null,
  name: 'Atlas',
  address: null,
  email: null,
} as const;
/** What a deposit of 100.00 at 20 % has. */
const WHOLE: CreditShare = { rates: [{ rate: 20, base: 10_000, tax: 2_000 }], amount: 12_000 };

let store: Store;

beforeAll(async () => {
  store = await openTestStore('deductions', true);
  await createTenantRepository(store.db).insert({ id: tenantId, name: 'T', profile: {}, createdAt: new Date() }, []);
});
afterAll(() => store.close());

async function stored(changes: Partial<Invoice>): Promise<Invoice> {
  const made = pendingInvoice({ tenantId, work: null, customer: CUSTOMER, ...changes });
  await invoicesOf(store.db).insert(made, newCreationMoment().order, null);
  return made;
}

let serial = 0;
const deposit = () => stored({ status: 'accepted', isDeposit: true, ownNumber: `A-${++serial}` });

const find = async (id: string) => (await invoicesOf(store.db).find(id)) as Invoice & { readonly number: string };
const keptBy = async (id: string) => (await find(id)).credits.list.map(({ creditNoteId }) => creditNoteId);

/** Takes deposits as another process would. */
function take(finalId: string, depositIds: readonly string[], now = () => new Date(), insteadOf: string | null = null) {
  const request = { finalId, insteadOf, depositIds, customer: CUSTOMER };
  return takeDeposits(createInvoiceRepository(store.db), OWNER, request, now);
}

function final(id: string, deposits: readonly Pick<Invoice, 'id'>[], changes: Partial<Invoice> = {}) {
  const original = { number: '2026-000001', issueDate: '2026-11-29', dgiId: null };
  const deducted = deposits.map((each): DeductedDeposit => ({ ...WHOLE, invoice: { ...original, id: each.id } }));
  const deduction = { deposits: deducted, rates: [{ rate: 20, base: 5_000, tax: 1_000 }] } as const;
  return stored({ id, status: 'pending', deduction, ...changes });
}

/** A credit note of all that the final invoice has. */
function noteOf(originalId: string, status: Invoice['status']) {
  const original = { id: originalId, number: '2026-000001', issueDate: '2026-11-29', dgiId: null };
  const share = { rates: [{ rate: 20, base: 5_000, tax: 1_000 }], amount: 6_000 } as const;
  const credit: Credit = { original, reason: 'return', note: null, ...share };
  return stored({ id: newId('crn'), kind: 'credit_note', status, credit });
}

async function creditFinal(invoice: Invoice, status: Invoice['status']) {
  const note = await noteOf(invoice.id, status);
  const { version } = (await find(invoice.id)).credits;
  const share = { rates: [{ rate: 20, base: 5_000, tax: 1_000 }], amount: 6_000 } as const;
  const list = [{ creditNoteId: note.id, at: new Date(), ...share }];
  expect(await invoicesOf(store.db).keepCredits(invoice, version, list)).toBe(true);
}

const REFUSED = { code: 'deposit_not_deductible' };

it('stores nothing of deposits with an invoice that is none and deducts none', async () => {
  const { id } = await stored({ status: 'accepted' });
  const document = await store.db.collection('invoices').findOne({ _id: id as never });
  for (const name of ['isDeposit', 'deposits', 'deduction']) expect(document).not.toHaveProperty(name);
  expect(await find(id)).toMatchObject({ isDeposit: null, deduction: null });
});

it('returns which deposits an invoice deducts, and what credits it', async () => {
  const [one, two] = [await deposit(), await deposit()];
  const invoice = await final(newId('inv'), [one, two], { status: 'accepted' });
  await creditFinal(invoice, 'pending');
  const state = (await invoicesOf(store.db).correctionStatesOf([invoice.id])).get(invoice.id);
  expect(state?.deduction).toMatchObject({
    depositIds: [one.id, two.id],
    rates: [{ rate: 20, base: 5_000, tax: 1_000 }],
    credits: [{ rates: [{ rate: 20, base: 5_000, tax: 1_000 }] }],
  });
  expect((await find(invoice.id)).deduction).toEqual(invoice.deduction);
});

it('50 final invoices of as many processes name the same deposits: one gets both of them', async () => {
  const ids = [(await deposit()).id, (await deposit()).id];
  const finals = Array.from({ length: 50 }, () => newId('inv'));
  const taken = await Promise.allSettled(finals.map((id, nth) => take(id, nth % 2 ? ids : ids.toReversed())));
  const winners = finals.filter((_, nth) => taken[nth]?.status === 'fulfilled');
  expect(winners).toHaveLength(1);
  for (const id of ids) expect(await keptBy(id)).toEqual(winners);
  for (const each of taken) if (each.status === 'rejected') expect(each.reason).toMatchObject(REFUSED);
});

it('a deposit is never deducted and credited beyond what it has', async () => {
  const counts = { deducted: 0, credited: 0 };
  for (let round = 0; round < 10; round++) {
    const { id } = await deposit();
    const credit = (net: number) =>
      takeCredit(
        createInvoiceRepository(store.db),
        () => find(id),
        newId('crn'),
        { kind: 'amounts', amounts: [{ taxRate: 20, net }] },
        () => new Date(),
      );
    const results = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => credit(3_000)),
      ...Array.from({ length: 4 }, () => take(newId('inv'), [id])),
      ...Array.from({ length: 4 }, () => credit(4_000)),
    ]);
    const taken = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    counts.deducted += taken.filter((each) => 'deposits' in each).length;
    counts.credited += taken.filter((each) => 'share' in each).length;
    const { list } = (await find(id)).credits;
    expect(list).toHaveLength(taken.length);
    const sum = (of: 'base' | 'tax') => list.reduce((all, { rates }) => all + (rates[0]?.[of] ?? 0), 0);
    expect(sum('base')).toBeLessThanOrEqual(10_000);
    expect(sum('tax')).toBeLessThanOrEqual(2_000);
    expect(list.reduce((all, { amount }) => all + amount, 0)).toBeLessThanOrEqual(12_000);
  }
  expect(counts.deducted).toBeGreaterThan(0);
  expect(counts.credited).toBeGreaterThan(0);
});

it('a process that dies before it stores the final invoice keeps the deposit for five minutes, and comes too late then', async () => {
  const { id } = await deposit();
  const start = new Date();
  const after = (ms: number) => () => new Date(start.getTime() + ms);
  const [dead, next] = [newId('inv'), newId('inv')];
  await take(dead, [id], after(0));
  await expect(take(next, [id], after(5 * MINUTE_MS - 1))).rejects.toMatchObject(REFUSED);
  expect((await take(next, [id], after(5 * MINUTE_MS))).deposits).toMatchObject([WHOLE]);
  const [late, first] = [await final(dead, [{ id }]), await final(next, [{ id }])];
  expect(await confirmDeposits(invoicesOf(store.db), first, after(6 * MINUTE_MS))).toBe(true);
  expect(await confirmDeposits(invoicesOf(store.db), late, after(6 * MINUTE_MS))).toBe(false);
  expect(await keptBy(id)).toEqual([next]);
});

it('a replacing invoice has the deduction of the replaced one, which is not free in between', async () => {
  const { id } = await deposit();
  const replaced = await final(newId('inv'), [{ id }], { status: 'accepted' });
  await take(replaced.id, [id]);
  const [replacing, other] = [newId('inv'), newId('inv')];
  await take(replacing, [id], undefined, replaced.id);
  await final(replacing, [{ id }], { status: 'pending' });
  await expect(take(other, [id])).rejects.toMatchObject(REFUSED);
  await creditFinal(replaced, 'accepted');
  await expect(take(other, [id])).rejects.toMatchObject(REFUSED);
  expect((await find(id)).credits.list).toMatchObject([{ creditNoteId: replacing, insteadOf: replaced.id }]);
});

describe('the check of the data', () => {
  async function faultsOf({ id }: Pick<Invoice, 'id'>): Promise<string[]> {
    const all = await Array.fromAsync(findInconsistencies(store.db));
    // The accepted invoices of this file have no documents.
    return all.filter((text) => text.startsWith(`invoice ${id}: `) && !text.endsWith('no signed XML'));
  }

  it.each([
    ['pending', 0],
    ['signing', 1],
    ['accepted', 1],
    ['rejected', 0],
  ] as const)('finds a final invoice whose deduction its deposit does not keep: %s', async (status, faults) => {
    const { id } = await deposit();
    const invoice = await final(newId('inv'), [{ id }], { status });
    const text = `invoice ${invoice.id}: its deposit invoice ${id} does not keep its deduction`;
    expect(await faultsOf(invoice)).toEqual(faults ? [text] : []);
    await take(invoice.id, [id]);
    expect(await faultsOf(invoice)).toEqual([]);
  });

  it('finds a final invoice whose deposit does not exist', async () => {
    const id = newId('inv');
    const invoice = await final(newId('inv'), [{ id }], { status: 'accepted' });
    expect(await faultsOf(invoice)).toEqual([`invoice ${invoice.id}: its deposit invoice ${id} does not exist`]);
  });

  it('finds no fault in a final invoice that is credited completely or whose deduction passed on', async () => {
    const [one, two] = [await deposit(), await deposit()];
    const undone = await final(newId('inv'), [one], { status: 'accepted' });
    await creditFinal(undone, 'pending');
    expect(await faultsOf(undone)).toHaveLength(1);
    const credited = await final(newId('inv'), [one], { status: 'accepted' });
    await creditFinal(credited, 'accepted');
    expect(await faultsOf(credited)).toEqual([]);
    const replaced = await final(newId('inv'), [two], { status: 'accepted' });
    await take(replaced.id, [two.id]);
    await take(newId('inv'), [two.id], undefined, replaced.id);
    expect(await faultsOf(replaced)).toEqual([]);
  });

  it('finds a deposit that keeps the deduction of an invoice that does not exist', async () => {
    const [lost, passed] = [await deposit(), await deposit()];
    const before = () => new Date(Date.now() - 7 * MINUTE_MS);
    const nothing = newId('inv');
    await take(nothing, [lost.id], before);
    const text = `it keeps a share of invoice ${nothing}, which does not exist`;
    expect(await faultsOf(lost)).toEqual([`invoice ${lost.id}: ${text}`]);
    const replaced = await final(newId('inv'), [passed], { status: 'accepted' });
    await take(replaced.id, [passed.id], before);
    await take(newId('inv'), [passed.id], before, replaced.id);
    expect(await faultsOf(passed)).toEqual([]);
  });

  it('skips an erased tenant, whose invoices disappear one by one', async () => {
    const id = newId('inv');
    const invoice = await final(newId('inv'), [{ id }], { status: 'accepted' });
    expect(await faultsOf(invoice)).toHaveLength(1);
    await createErasureStore(store.db).begin(tenantId, new Date());
    expect(await faultsOf(invoice)).toEqual([]);
  });
});
