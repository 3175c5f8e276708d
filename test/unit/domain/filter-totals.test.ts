import { expect, it } from 'vitest';
import { READ_BYTES } from '../../../src/domain/answer-bounds.ts';
import type { InvoicePage } from '../../../src/domain/invoice/invoice-queries.ts';
import { fiscalDocumentTotals, MOST_TOTALLED } from '../../../src/domain/invoice/periods/filter-totals.ts';
import { pendingInvoice } from '../../support/invoices.ts';

const by = { tenant: { id: 'ten_1' }, environment: 'test' } as never;
const asked = { kind: null, status: null, from: null, through: null };

/** Sums a search whose pages are made by this function of their number and the bytes that are left. */
async function totals(pageOf: (nth: number, maxBytes: number) => Partial<InvoicePage>, maxBytes?: number) {
  let read = 0;
  const page = async (query: { readonly maxBytes?: number }) => ({
    invoices: [],
    hasMore: false,
    hasOthers: async () => false,
    bytes: 1,
    ...pageOf(read++, query.maxBytes ?? READ_BYTES),
  });
  const needs = { invoices: { page, orderOf: async () => 'o' }, issuedDays: { between: async () => [] } };
  const input = { ...asked, search: 'atlas', ...(maxBytes !== undefined && { maxBytes }) };
  const { count, sums, hasMore, bytes } = await fiscalDocumentTotals.run(needs, { by }, input);
  return { count, amount: sums.amount, hasMore, bytes, read };
}
const documents = (count: number) => Array.from({ length: count }, () => pendingInvoice({}));

it('sums at most so many documents of a search, and says that there are more', async () => {
  const many = await totals(() => ({ invoices: documents(100), hasMore: true }));
  expect(many).toEqual({
    count: MOST_TOTALLED,
    amount: BigInt(MOST_TOTALLED) * 12_000n,
    hasMore: true,
    bytes: 10,
    read: 10,
  });
  const all = await totals((nth) => ({ invoices: documents(100), hasMore: nth < 9 }));
  expect(all).toMatchObject({ count: MOST_TOTALLED, hasMore: false });
});

it.each([
  ['a page that stopped early', { invoices: documents(3), hasMore: true, stoppedAt: 'inv_1' }],
  ['documents that fill the size', { invoices: documents(3), hasMore: true, bytes: READ_BYTES - 1 }],
  ['large documents', { invoices: documents(100), hasMore: true, bytes: READ_BYTES }],
  ['a page without rows', { invoices: [], hasMore: true }],
])('reads no further after %s', async (_name, page) => {
  expect(await totals(() => page)).toMatchObject({ count: page.invoices.length, hasMore: true, read: 1 });
});

it('reads documents of at most so many bytes, and says how many they were', async () => {
  const left: number[] = [];
  const found = await totals((_nth, most) => {
    left.push(most);
    return { invoices: documents(100), hasMore: true, bytes: 400 };
  }, 1000);
  expect(left).toEqual([1000, 600, 200]);
  expect(found).toMatchObject({ count: 300, bytes: 1200, hasMore: true });
});

it('takes credit notes away', async () => {
  const notes = documents(1).map((each) => ({ ...each, kind: 'credit_note' as const, amount: 2000 }));
  expect(await totals(() => ({ invoices: [...documents(2), ...notes] }))).toMatchObject({ count: 3, amount: 22_000n });
});
