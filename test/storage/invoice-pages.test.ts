import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InvoicePageQuery } from '../../src/domain/invoice/repository.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;

beforeAll(async () => {
  store = await openTestStore('pages');
});
afterAll(() => store.close());

it('a page is cut at 4 MiB, and the following pages return every invoice once, in order', async () => {
  const invoices = createInvoiceRepository(store.db);
  const made: { id: string; order: string }[] = [];
  for (let i = 0; i < 20; i++) {
    const invoice = pendingInvoice({ metadata: { text: 'x'.repeat(1_000_000) } });
    const { order } = newCreationMoment();
    await invoices.insert(invoice, order, null);
    made.unshift({ id: invoice.id, order });
  }
  const { tenantId, environment } = pendingInvoice({});
  const query = { tenantId, environment, status: null, match: null, limit: 100, createdFrom: null, createdUntil: null };
  const orderOf = (id: string | undefined) => made.find((each) => each.id === id)?.order ?? '';
  const pagesFrom = async (cursor: InvoicePageQuery['cursor'], last: 'first' | 'last') => {
    const pages: string[][] = [];
    for (let more = true; more; ) {
      const page = await invoices.page({ ...query, cursor });
      const ids = page.invoices.map(({ id }) => id);
      pages.push(ids);
      more = page.hasMore;
      const direction = last === 'last' ? 'after' : 'before';
      cursor = { direction, order: orderOf(last === 'last' ? ids.at(-1) : ids[0]) };
    }
    return pages;
  };
  const ids = made.map(({ id }) => id);
  const down = await pagesFrom(null, 'last');
  expect(down.map((page) => page.length)).toEqual([4, 4, 4, 4, 4]);
  expect(down.flat()).toEqual(ids);
  const up = await pagesFrom({ direction: 'before', order: orderOf(ids.at(-1)) }, 'first');
  expect(up.map((page) => page.length)).toEqual([4, 4, 4, 4, 3]);
  expect(up.reverse().flat()).toEqual(ids.slice(0, -1));
});
