import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { customerKey } from '../../src/domain/invoice/customer-key.ts';
import type { InvoiceMatch, InvoicePageQuery } from '../../src/domain/invoice/invoice-queries.ts';
import { KIND_NAMES, KINDS, type Kind } from '../../src/domain/invoice/kinds.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createErasureStore } from '../../src/storage/erasure.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const OWNER = { tenantId: 'ten_kinds', environment: 'test' } as const;
const COUNT = 12;

interface Made {
  readonly id: string;
  readonly order: string;
  readonly kind: Kind;
}

let store: Store;
/** Of each kind in turn, newest first. */
const made: Made[] = [];

beforeAll(async () => {
  store = await openTestStore('kinds-apart', true);
  for (let nth = 0; nth < COUNT; nth++) {
    const kind = KIND_NAMES[nth % KIND_NAMES.length] as Kind;
    const { createdAt, order } = newCreationMoment();
    const invoice = pendingInvoice({ ...OWNER, createdAt, kind, id: newId(KINDS[kind].idPrefix) });
    await invoicesOf(store.db).insert(invoice, order, null);
    made.unshift({ id: invoice.id, order, kind });
  }
});
afterAll(() => store.close());

const idsOf = (kind: Kind) => made.filter((each) => each.kind === kind).map(({ id }) => id);
const { amount, customer } = pendingInvoice({});
const MATCHES: (InvoiceMatch | null)[] = [
  null,
  { amount },
  { customerIce: String(customer.ice) },
  { customerKey: customerKey(customer.name) },
];

const QUERIES: Partial<InvoicePageQuery>[] = [
  ...MATCHES.map((match) => ({ match })),
  { status: 'pending' },
  { createdFrom: 0, createdUntil: Date.now() + 86_400_000 },
];

function pageOf(kind: Kind | null, query: Partial<InvoicePageQuery>) {
  return invoicesOf(store.db).page({
    ...OWNER,
    kind,
    status: null,
    match: null,
    limit: 100,
    cursor: null,
    createdFrom: null,
    createdUntil: null,
    ...query,
  });
}

describe.each(KIND_NAMES)('a list of %ss', (kind) => {
  const page = (query: Partial<InvoicePageQuery>) => pageOf(kind, query);

  it.each(QUERIES)('has all of them and nothing else: %o', async (query) => {
    const found = await page(query);
    expect(found.invoices.map(({ id }) => id)).toEqual(idsOf(kind));
    expect(found.invoices.every((each) => each.kind === kind)).toBe(true);
  });

  it('begins at a place of its own, ends at its last one, and knows what is behind', async () => {
    const own = made.filter((each) => each.kind === kind);
    const [newest, second] = own as [Made, Made];
    const older = await page({ cursor: { direction: 'after', order: newest.order }, limit: own.length - 1 });
    expect(older.invoices.map(({ id }) => id)).toEqual(idsOf(kind).slice(1));
    expect(older.hasMore).toBe(false);
    const newer = await page({ cursor: { direction: 'before', order: second.order } });
    expect(newer.invoices.map(({ id }) => id)).toEqual([newest.id]);
    // At one end of all of them is one of another kind.
    for (const [end, direction] of [[made[0], 'after'] as const, [made.at(-1), 'before'] as const]) {
      const { hasOthers } = await page({ cursor: { direction, order: end?.order ?? '' } });
      expect(await hasOthers()).toBe(end?.kind === kind);
    }
  });
});

describe('a list of all kinds', () => {
  const all = () => made.map(({ id }) => id);

  it.each(QUERIES)('has all documents, newest first: %o', async (query) => {
    expect((await pageOf(null, query)).invoices.map(({ id }) => id)).toEqual(all());
  });

  it.each([1, 3, 5, COUNT])('pages downwards and upwards, %i at once', async (limit) => {
    const down: string[] = [];
    for (let cursor: InvoicePageQuery['cursor'] = null; ; ) {
      const page = await pageOf(null, { limit, cursor });
      down.push(...page.invoices.map(({ id }) => id));
      expect(await page.hasOthers()).toBe(cursor !== null);
      if (!page.hasMore) break;
      cursor = { direction: 'after', order: made[down.length - 1]?.order ?? '' };
    }
    expect(down).toEqual(all());
    const up: string[] = [];
    for (let at = COUNT; ; at = COUNT - up.length) {
      // Before all keys, and the beginning of none: behind those the independent server finds nothing by an index.
      const order = at === COUNT ? '!' : (made[at]?.order ?? '');
      const page = await pageOf(null, { limit, cursor: { direction: 'before', order } });
      up.unshift(...page.invoices.map(({ id }) => id));
      if (!page.hasMore) break;
    }
    expect(up).toEqual(all());
  });

  it('is cut at its size, but has at least one document', async () => {
    const whole = await pageOf(null, {});
    const three = await pageOf(null, { maxBytes: Math.ceil((3.5 * whole.bytes) / COUNT) });
    expect(three.invoices.map(({ id }) => id)).toEqual(all().slice(0, 3));
    expect(three.hasMore).toBe(true);
    const one = await pageOf(null, { maxBytes: 1 });
    expect(one.invoices.map(({ id }) => id)).toEqual(all().slice(0, 1));
  });

  it('is empty where there is none', async () => {
    for (const direction of ['after', 'before'] as const)
      for (const cursor of [null, { direction, order: direction === 'after' ? '' : '~' }])
        if (cursor) expect((await pageOf(null, { cursor })).invoices).toEqual([]);
    expect((await pageOf(null, { status: 'accepted' })).invoices).toEqual([]);
  });
});

it('counts and customers are of invoices only', async () => {
  const { tenantId } = await stored('credit_note', 'Boréal', 'ten_notes');
  const range = { tenantId, environment: 'test', from: 0, until: Date.now() + 86_400_000 } as const;
  expect((await invoicesOf(store.db).countByStatus(range)).pending).toBe(0);
  expect((await invoicesOf(store.db).countByStatus({ ...range, ...OWNER })).pending).toBe(COUNT / KIND_NAMES.length);
  const customers = (field: 'ice' | 'name') =>
    invoicesOf(store.db).customers({ tenantId, environment: 'test', field, prefix: '', limit: 5 });
  for (const field of ['ice', 'name'] as const) expect(await customers(field)).toEqual([]);
  await stored('invoice', 'Atlas', tenantId);
  for (const field of ['ice', 'name'] as const) expect(await customers(field)).toMatchObject([{ name: 'Atlas' }]);
});

async function stored(kind: Kind, name: string, tenantId: string) {
  const invoice = pendingInvoice({ kind, tenantId, customer: { ...customer, name }, id: newId(KINDS[kind].idPrefix) });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  return invoice;
}

it.each([1, 5, COUNT])('an erasure reads all kinds as one list, newest first, %i at once', async (limit) => {
  const erasures = createErasureStore(store.db);
  const seen: string[] = [];
  for (let before: string | null = null; ; ) {
    const found = await erasures.invoices(OWNER, before, limit);
    expect(found.length).toBeLessThanOrEqual(limit);
    seen.push(...found.map(({ id }) => id));
    before = found.at(-1)?.order ?? null;
    if (before === null) break;
  }
  expect(seen).toEqual(made.map(({ id }) => id));
});

it('an erasure counts all kinds', async () => {
  expect((await createErasureStore(store.db).counts(OWNER.tenantId)).testInvoices).toBe(COUNT);
});
