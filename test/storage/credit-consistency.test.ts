import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Credit } from '../../src/domain/invoice/credit.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const tenantId = newId('ten');

let store: Store;
let invoice: Invoice;

beforeAll(async () => {
  store = await openTestStore('credit-consistency', true);
  const profile = {};
  await createTenantRepository(store.db).insert({ id: tenantId, name: 'T', profile, createdAt: new Date() }, []);
  invoice = await stored({ status: 'accepted' });
});
afterAll(() => store.close());

async function stored(changes: Partial<Invoice>): Promise<Invoice> {
  const made = pendingInvoice({ tenantId, work: null, ...changes });
  await invoicesOf(store.db).insert(made, newCreationMoment().order, null);
  return made;
}

/** A credit note of this service's invoice; null: of one that the service did not issue. */
async function noteOf(originalId: string | null, status: Invoice['status'] = 'signing'): Promise<Invoice> {
  const original = { id: originalId, number: '2026-000001', issueDate: '2026-01-31', dgiId: null };
  const credit: Credit = { original, reason: 'return', note: null, rates: [], amount: 100 };
  return stored({ id: newId('crn'), kind: 'credit_note', status, credit });
}

async function keep(ids: readonly string[]): Promise<void> {
  const { keepCredits, find } = invoicesOf(store.db);
  const version = (await find(invoice.id))?.credits.version ?? 0;
  const list = ids.map((creditNoteId) => ({ creditNoteId, at: new Date(), rates: [], amount: 100 }));
  expect(await keepCredits(invoice, version, list)).toBe(true);
}

async function faultsOf({ id }: Invoice): Promise<string[]> {
  const all = await Array.fromAsync(findInconsistencies(store.db));
  // The accepted invoices of this file have no documents.
  return all.filter((text) => text.startsWith(`invoice ${id}: `) && !text.endsWith('no signed XML'));
}

it('a credit note whose share its invoice does not keep is found', async () => {
  const [kept, unkept] = [await noteOf(invoice.id), await noteOf(invoice.id)];
  await keep([newId('crn'), kept.id]);
  expect(await faultsOf(kept)).toEqual([]);
  expect(await faultsOf(unkept)).toEqual([`invoice ${unkept.id}: its invoice ${invoice.id} does not keep its share`]);
  await keep([unkept.id]);
  expect(await faultsOf(unkept)).toEqual([]);
  expect(await faultsOf(kept)).toHaveLength(1);
});

it('an invoice that keeps nothing, and one that does not exist, are found', async () => {
  const other = await stored({ status: 'accepted' });
  const note = await noteOf(other.id);
  expect(await faultsOf(note)).toEqual([`invoice ${note.id}: its invoice ${other.id} does not keep its share`]);
  const lost = await noteOf(newId('inv'));
  expect(await faultsOf(lost)).toEqual([`invoice ${lost.id}: its invoice ${lost.credit?.original.id} does not exist`]);
});

it.each(['pending', 'rejected'] as const)('a %s credit note needs no kept share', async (status) => {
  expect(await faultsOf(await noteOf(invoice.id, status))).toEqual([]);
});

it('a credit note of an invoice that the service did not issue is compared with none', async () => {
  expect(await faultsOf(await noteOf(null))).toEqual([]);
});

it('an invoice is found to which the one that it replaces has no link', async () => {
  const replaced = await stored({ status: 'rejected' });
  const { keepReplacement, find } = invoicesOf(store.db);
  const invoice = { id: replaced.id, number: null, issueDate: '2026-01-31', dgiId: null };
  const replaces = { invoice, reason: 'error', note: null, credited: null } as const;
  const [linked, other] = [
    await stored({ status: 'signing', replaces }),
    await stored({ status: 'signing', replaces }),
  ];
  const text = (id: string) => `invoice ${id}: its invoice ${replaced.id} has no link to it`;
  expect(await faultsOf(linked)).toEqual([text(linked.id)]);
  expect(await keepReplacement(replaced, { invoiceId: linked.id, at: new Date() })).toBe(true);
  expect((await find(replaced.id))?.replacedBy).toMatchObject({ invoiceId: linked.id, version: 1 });
  // The invoice was read before.
  expect(await keepReplacement(replaced, { invoiceId: other.id, at: new Date() })).toBe(false);
  expect(await faultsOf(linked)).toEqual([]);
  expect(await faultsOf(other)).toEqual([text(other.id)]);
  expect(await faultsOf(await stored({ status: 'rejected', replaces }))).toEqual([]);
});

describe('an invoice that keeps a share of a credit note that does not exist', () => {
  const MINUTE_MS = 60_000;
  const replaces = (creditNoteId: string) => {
    const replaced = { id: invoice.id, number: '2026-000001', issueDate: '2026-01-31', dgiId: null };
    return {
      invoice: replaced,
      reason: 'error',
      note: null,
      credited: { invoiceId: invoice.id, creditNoteId },
    } as const;
  };

  /** Lets a new invoice keep a share that is so old. */
  async function keeping(creditNoteId: string, minutes: number, replacingId?: string): Promise<Invoice> {
    const made = await stored({ status: 'accepted' });
    const at = new Date(Date.now() - minutes * MINUTE_MS);
    const share = { creditNoteId, at, rates: [], amount: 100, ...(replacingId && { replacingId }) };
    expect(await invoicesOf(store.db).keepCredits(made, 0, [share])).toBe(true);
    return made;
  }

  it('is found after six minutes', async () => {
    const lost = newId('crn');
    expect(await faultsOf(await keeping(lost, 5.5))).toEqual([]);
    const faulty = await keeping(lost, 6.5);
    const text = `invoice ${faulty.id}: it keeps a share of credit note ${lost}, which does not exist`;
    expect(await faultsOf(faulty)).toEqual([text]);
    expect(await faultsOf(await keeping((await noteOf(null)).id, 6.5))).toEqual([]);
  });

  it.each([
    ['pending', 0],
    ['rejected', 0],
    ['signing', 1],
    ['accepted', 1],
  ] as const)('is found if it was taken for an invoice, unless that is not issued: %s', async (status, faults) => {
    const lost = newId('crn');
    const replacing = await stored({ status, replaces: replaces(lost) });
    expect(await faultsOf(await keeping(lost, 60, replacing.id))).toHaveLength(faults);
  });

  it('is found if the invoice for which it was taken does not exist', async () => {
    expect(await faultsOf(await keeping(newId('crn'), 60, newId('inv')))).toHaveLength(1);
  });
});

it('an erased tenant is skipped, whose invoices disappear one by one', async () => {
  const note = await noteOf(newId('inv'));
  expect(await faultsOf(note)).toHaveLength(1);
  const share = { creditNoteId: newId('crn'), at: new Date(0), rates: [], amount: 100 };
  const keeping = await stored({ status: 'accepted' });
  expect(await invoicesOf(store.db).keepCredits(keeping, 0, [share])).toBe(true);
  expect(await faultsOf(keeping)).toHaveLength(1);
  await createErasureStore(store.db).begin(tenantId, new Date());
  expect([await faultsOf(note), await faultsOf(keeping)]).toEqual([[], []]);
});
