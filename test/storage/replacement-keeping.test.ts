import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const KEEPERS = 32;

let store: Store;

beforeAll(async () => {
  store = await openTestStore('replacement-keeping', true);
});
afterAll(() => store.close());

async function stored(changes: Partial<Invoice> = {}): Promise<Invoice> {
  const invoice = pendingInvoice({ status: 'accepted', ...changes });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  return invoice;
}

const link = () => ({ invoiceId: newId('inv'), at: new Date() });
const linkOf = async ({ id }: Invoice) => (await invoicesOf(store.db).find(id))?.replacedBy;

it.each(['accepted', 'rejected'] as const)(
  'links an %s invoice, and counts the changes of its link',
  async (status) => {
    const invoice = await stored({ status });
    const [first, second] = [link(), link()];
    expect(await invoicesOf(store.db).keepReplacement(invoice, first)).toBe(true);
    expect(await linkOf(invoice)).toEqual({ ...first, version: 1 });
    const linked = { ...invoice, replacedBy: { ...first, version: 1 } };
    expect(await invoicesOf(store.db).keepReplacement(linked, second)).toBe(true);
    expect(await linkOf(invoice)).toEqual({ ...second, version: 2 });
  },
);

it('writes no link over one that has changed since the invoice was read', async () => {
  const invoice = await stored();
  const first = link();
  const { keepReplacement } = invoicesOf(store.db);
  expect(await keepReplacement(invoice, first)).toBe(true);
  for (const version of [undefined, 2])
    expect(await keepReplacement({ ...invoice, replacedBy: version ? { ...first, version } : null }, link())).toBe(
      false,
    );
  expect(await linkOf(invoice)).toEqual({ ...first, version: 1 });
});

it.each(['pending', 'signing', 'transmitted'] as const)('links no invoice that is %s', async (status) => {
  const invoice = await stored({ status });
  expect(await invoicesOf(store.db).keepReplacement(invoice, link())).toBe(false);
  expect(await linkOf(invoice)).toBeNull();
});

it('links no invoice of another owner, and no credit note', async () => {
  const invoice = await stored();
  const note = await stored({ kind: 'credit_note' });
  const { keepReplacement } = invoicesOf(store.db);
  for (const other of [{ tenantId: 'ten_other' }, { environment: 'live' }, { id: newId('inv') }] as const)
    expect(await keepReplacement({ ...invoice, ...other }, link())).toBe(false);
  expect(await keepReplacement(note, link())).toBe(false);
  expect([await linkOf(invoice), await linkOf(note)]).toEqual([null, null]);
});

it(`of ${KEEPERS} processes at once, exactly one links an invoice`, async () => {
  const invoice = await stored();
  const links = Array.from({ length: KEEPERS }, link);
  const kept = await Promise.all(links.map((each) => createInvoiceRepository(store.db).keepReplacement(invoice, each)));
  expect(kept.filter(Boolean)).toHaveLength(1);
  expect(await linkOf(invoice)).toEqual({ ...links[kept.indexOf(true)], version: 1 });
});
