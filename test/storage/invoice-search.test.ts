import { afterAll, beforeAll, expect, it } from 'vitest';
import type { InvoicePageQuery } from '../../src/domain/invoice/invoice-queries.ts';
import { searchOf } from '../../src/domain/invoice/search/query.ts';
import { termsOf } from '../../src/domain/invoice/search/terms.ts';
import type { Store } from '../../src/storage/connect.ts';
import { documentOf, type InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { sampled } from '../support/samples.ts';
import { answerer, type Question, questionsAbout } from '../support/search-questions.ts';
import { type Searchable, storeSearchable } from '../support/searchable-invoices.ts';
import { openTestStore } from '../support/store.ts';

const OWNER = { tenantId: 'ten_searched', environment: 'test' } as const;

let store: Store;
let all: readonly Searchable[];

beforeAll(async () => {
  store = await openTestStore('invoice-search', true);
  all = await storeSearchable(store.db, OWNER, 4 * sampled(625));
  await storeSearchable(store.db, { ...OWNER, tenantId: 'ten_other' }, 50, 46);
});
afterAll(() => store.close());

function page({ text, kind, status }: Question, query: Partial<InvoicePageQuery> = {}) {
  return invoicesOf(store.db).page({
    ...OWNER,
    kind,
    status,
    match: null,
    limit: 20,
    cursor: null,
    createdFrom: null,
    createdUntil: null,
    search: searchOf(text),
    ...query,
  });
}

const orderOf = async (id: string) => (await invoicesOf(store.db).orderOf('ten_searched', 'test', id)) ?? '';

/** Reads all pages from the newest row on, and checks each place where reading stopped. */
async function readAll(question: Question, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: InvoicePageQuery['cursor'] = null; ; ) {
    const found = await page(question, { limit, cursor });
    ids.push(...found.invoices.map(({ id }) => id));
    if (!found.hasMore) return ids;
    const last = found.stoppedAt ?? found.invoices.at(-1)?.id ?? '';
    cursor = { direction: 'after', order: await orderOf(last) };
  }
}

it('finds what a comparison of all documents finds, in the order of the list', async () => {
  const answer = answerer(all);
  for (const question of questionsAbout(all, sampled(400, 20)))
    expect({ question, ids: await readAll(question) }).toEqual({ question, ids: answer(question) });
});

/** Rows at once, and how many of what is found are paged through. */
const PAGES = [
  [1, 15],
  [7, sampled(700)],
  [100, Number.POSITIVE_INFINITY],
] as const;

it.each(PAGES)('pages downwards and upwards, %i at once, without what is stored meanwhile', async (limit, most) => {
  const question = { text: 'atlas', kind: null, status: null };
  const expected = answerer(all)(question).slice(0, most);
  const down = [expected[0] as string];
  for (let last = await orderOf(down[0] as string); down.length < expected.length; ) {
    const cursor = { direction: 'after', order: last } as const;
    const { invoices, hasOthers } = await page(question, {
      limit: Math.min(limit, expected.length - down.length),
      cursor,
    });
    expect(await hasOthers()).toBe(true);
    down.push(...invoices.map(({ id }) => id));
    last = await orderOf(down.at(-1) as string);
  }
  expect(down).toEqual(expected);
  const up = [expected.at(-1) as string];
  for (;;) {
    const cursor = { direction: 'before', order: await orderOf(up[0] as string) } as const;
    const { invoices, hasMore, hasOthers } = await page(question, { limit, cursor });
    expect(await hasOthers()).toBe(true);
    up.unshift(...invoices.map(({ id }) => id));
    if (!hasMore) break;
  }
  expect(up).toEqual(expected);
});

it('knows that nothing is on the other side of the first row that it would find', async () => {
  const question = { text: 'atlas', kind: null, status: null };
  const beyond = { direction: 'after', order: '~' } as const;
  expect(await (await page(question, { cursor: beyond })).hasOthers()).toBe(false);
  expect(await (await page(question)).hasOthers()).toBe(false);
});

it('is restricted by the time of creation', async () => {
  const at = async (id: string) => (await invoicesOf(store.db).find(id))?.createdAt.getTime() ?? 0;
  for (const text of ['atlas', all[200]?.number ?? '']) {
    const question = { text, kind: null, status: null };
    const expected = answerer(all)(question);
    const [from, until] = [await at(expected.at(-1) as string), await at(expected[0] as string)];
    const ids = async (query: Partial<InvoicePageQuery>) =>
      (await page(question, { ...query, limit: 100, cursor: null })).invoices.map(({ id }) => id);
    expect(await ids({ createdUntil: until })).toEqual(expected.slice(1, 101));
    expect(await ids({ createdFrom: until })).toEqual(expected.slice(0, 1));
    expect((await ids({ createdFrom: from })).length).toBe(Math.min(100, expected.length));
  }
});

it('is cut at the size of a page, where the next one begins', async () => {
  const question = { text: 'atlas', kind: null, status: null };
  const whole = await page(question, { limit: 10 });
  const cut = await page(question, { limit: 10, maxBytes: whole.bytes / 2 });
  expect(cut.invoices.length).toBeGreaterThan(2);
  expect(cut.invoices.length).toBeLessThan(8);
  expect(cut).toMatchObject({ hasMore: true });
  expect(cut.stoppedAt).toBeUndefined();
});

it('stops where it has read much and found little, and goes on from there', async () => {
  const tenantId = 'ten_stopped';
  const { customer } = pendingInvoice({});
  const made = Array.from({ length: 4400 }, (_, nth) => {
    const name = nth === 100 ? 'Immense Rien' : nth % 2 === 0 ? 'Rien' : 'Immense';
    const invoice = pendingInvoice({ ...OWNER, tenantId, customer: { ...customer, name }, work: null });
    return { ...documentOf(invoice, String(nth).padStart(8, '0'), null), searchTerms: termsOf(invoice) };
  });
  await store.db.collection<InvoiceDocument>('invoices').insertMany(made);
  const question = { text: 'immense rien', kind: null, status: null };
  const first = await page(question, { ...OWNER, tenantId });
  expect(first.invoices).toEqual([]);
  expect(first).toMatchObject({ hasMore: true });
  const order = made.find(({ _id }) => _id === first.stoppedAt)?.order ?? '';
  const next = await page(question, { ...OWNER, tenantId, cursor: { direction: 'after', order } });
  expect(next.invoices.map(({ id }) => id)).toEqual([made[100]?._id]);
  expect(next).toMatchObject({ hasMore: false });
  expect(await next.hasOthers()).toBe(true);
});
