import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InvoicePageQuery } from '../../src/domain/invoice/invoice-queries.ts';
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
  const { tenantId, environment, kind } = pendingInvoice({});
  const query = {
    tenantId,
    environment,
    kind,
    status: null,
    match: null,
    limit: 100,
    createdFrom: null,
    createdUntil: null,
  };
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

it('small invoices are read with one command; after large ones, batches have about what a page may have', async () => {
  const own = await openTestStore('batches', true);
  try {
    const invoices = createInvoiceRepository(own.db);
    const insert = async (count: number, tenantId: string, text: string) => {
      for (let n = 0; n < count; n++)
        await invoices.insert(pendingInvoice({ tenantId, metadata: { text } }), newCreationMoment().order, null);
    };
    await insert(30, 'ten_small', 'x');
    await insert(30, 'ten_large', 'x'.repeat(500_000));
    const batches: number[] = [];
    own.client.on('commandSucceeded', ({ commandName, reply }) => {
      const { cursor } = reply as { cursor?: { firstBatch?: unknown[]; nextBatch?: unknown[] } };
      if (commandName === 'find' || commandName === 'getMore')
        batches.push((cursor?.firstBatch ?? cursor?.nextBatch ?? []).length);
    });
    const read = async (tenantId: string) => {
      batches.length = 0;
      const range = { createdFrom: null, createdUntil: null, cursor: null };
      const page = await invoices.page({
        tenantId,
        environment: 'test',
        kind: 'invoice',
        status: null,
        match: null,
        limit: 20,
        ...range,
      });
      return { found: page.invoices.length, batches: [...batches] };
    };
    expect(await read('ten_small')).toEqual({ found: 20, batches: [21] });
    expect((await read('ten_large')).found).toBe(8);
    const { found, batches: next } = await read('ten_large');
    expect(found).toBe(8);
    expect(next[0]).toBeLessThan(11);
    // What is usual grows smaller again.
    for (let n = 0; n < 50; n++) await read('ten_small');
    expect(await read('ten_small')).toEqual({ found: 20, batches: [21] });
  } finally {
    await own.close();
  }
});
