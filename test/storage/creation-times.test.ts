import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { InvoicePageQuery } from '../../src/domain/invoice/invoice-queries.ts';
import type { InvoiceRepository } from '../../src/domain/invoice/repository.ts';
import { newCreationMoment, orderAt } from '../../src/domain/order-key.ts';
import { createAuditLog } from '../../src/storage/audit-log.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createInvoiceRepository } from '../../src/storage/invoices.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { openBeside, openTestStore } from '../support/store.ts';

/** New Year in Morocco, and what the clocks of two processes show then. */
const NEW_YEAR = Date.parse('2027-01-01T00:00:00Z');
const AHEAD = NEW_YEAR + 20_000;
const RIGHT = NEW_YEAR - 20_000;

let store: Store;
let other: Store;
beforeAll(async () => {
  store = await openTestStore('creation_times');
  other = await openBeside(store);
});
afterAll(async () => {
  await other.close();
  await store.close();
});

/** Creates an invoice as a process does whose clock shows this time. */
async function create(invoices: InvoiceRepository, tenantId: string, at: number) {
  const invoice = pendingInvoice({ tenantId, createdAt: new Date(at) });
  return (await invoices.insert(invoice, `${orderAt(at).slice(0, 16)}${newCreationMoment().order.slice(16)}`, null))
    .invoice;
}

async function listed(tenantId: string, range: Partial<InvoicePageQuery>): Promise<string[]> {
  const all = { status: null, match: null, limit: 100, cursor: null, createdFrom: null, createdUntil: null } as const;
  const list = { tenantId, environment: 'test', kind: 'invoice' } as const;
  const page = await createInvoiceRepository(store.db).page({ ...all, ...list, ...range });
  return page.invoices.map(({ id }) => id).reverse();
}

it('an invoice has the date and the series of its own clock, behind one of a clock that is ahead, and is found by them', async () => {
  const tenantId = newId('ten');
  const [ahead, right] = [createInvoiceRepository(other.db), createInvoiceRepository(store.db)];
  const early = await create(right, tenantId, RIGHT - 3_600_000);
  const next = await create(ahead, tenantId, AHEAD);
  const last = await create(right, tenantId, RIGHT);
  expect(last.createdAt).toEqual(new Date(RIGHT));
  expect(last.updatedAt).toEqual(new Date(RIGHT));
  expect((await right.findEvenWithheld(last.id))?.createdAt).toEqual(new Date(RIGHT));
  const stored = await store.db.collection('invoices').findOne({ _id: last.id as never });
  expect(stored?.awaitsNumber).toBe('2026');
  expect((await right.awaitingNumber(tenantId, 'test', '2026', 9)).map(({ invoiceId }) => invoiceId)).toEqual([
    early.id,
    last.id,
  ]);
  const order = [early.id, next.id, last.id];
  expect(await listed(tenantId, {})).toEqual(order);
  expect(await listed(tenantId, { createdUntil: NEW_YEAR })).toEqual([early.id, last.id]);
  expect(await listed(tenantId, { createdFrom: NEW_YEAR })).toEqual([next.id]);
  expect(await listed(tenantId, { createdFrom: NEW_YEAR, createdUntil: NEW_YEAR + 60_000 })).toEqual([next.id]);
  expect(await listed(tenantId, { createdFrom: RIGHT, createdUntil: NEW_YEAR })).toEqual([last.id]);
});

it('pages of a period in both directions have each invoice of the period once, whatever the clocks of two processes show', async () => {
  const tenantId = newId('ten');
  const both = [createInvoiceRepository(other.db), createInvoiceRepository(store.db)] as const;
  const made = [];
  for (let second = -30; second < 30; second++) {
    const aheadMs = second % 2 === 0 ? 15_500 : 0;
    made.push(await create(both[second % 2 === 0 ? 0 : 1], tenantId, NEW_YEAR + second * 1000 + aheadMs));
  }
  const isBefore = ({ createdAt }: { createdAt: Date }) => createdAt.getTime() < NEW_YEAR;
  for (const [range, expected] of [
    [{ createdUntil: NEW_YEAR }, made.filter(isBefore)],
    [{ createdFrom: NEW_YEAR }, made.filter((each) => !isBefore(each))],
  ] as const) {
    const ids = expected.map(({ id }) => id);
    const [older, newer]: string[][] = [[], []];
    for (let cursor: InvoicePageQuery['cursor'] = null; ; ) {
      const page = await listed(tenantId, { ...range, limit: 7, cursor });
      older?.unshift(...page);
      const [first] = page;
      if (first === undefined) break;
      cursor = { direction: 'after', order: (await both[0].orderOf(tenantId, 'test', first)) ?? '' };
    }
    for (let cursor: InvoicePageQuery['cursor'] = { direction: 'before', order: orderAt(0) }; ; ) {
      const page = await listed(tenantId, { ...range, limit: 7, cursor });
      newer?.push(...page);
      const last = page.at(-1);
      if (last === undefined) break;
      cursor = { direction: 'before', order: (await both[0].orderOf(tenantId, 'test', last)) ?? '' };
    }
    expect(older).toEqual(ids);
    expect(newer).toEqual(ids);
  }
});

it('an invoice behind one of a clock that is an hour ahead is in one period alone', async () => {
  const tenantId = newId('ten');
  const [ahead, right] = [createInvoiceRepository(other.db), createInvoiceRepository(store.db)];
  await create(ahead, tenantId, RIGHT + 3_600_000);
  const { id } = await create(right, tenantId, RIGHT);
  const quarters = [];
  for (let from = RIGHT - 900_000; from < RIGHT + 7_200_000; from += 900_000)
    quarters.push(...(await listed(tenantId, { createdFrom: from, createdUntil: from + 900_000 })));
  expect(quarters.filter((each) => each === id)).toHaveLength(1);
});

it('an entry of the audit log has the time of its own clock', async () => {
  const tenantId = newId('ten');
  const entry = {
    action: 'tenant.created',
    environment: null,
    origin: null,
    subject: null,
    details: {},
    actor: { kind: 'operator', id: null, name: null },
  } as const;
  for (const [db, at] of [
    [other.db, AHEAD],
    [store.db, RIGHT],
  ] as const)
    await createAuditLog(db).insert([{ ...entry, id: newId('aud'), tenantId, at: new Date(at), order: orderAt(at) }]);
  const query = { tenantId, actorId: null, subject: null, from: null, until: null, limit: 9, cursor: null };
  const { rows } = await createAuditLog(store.db).page(query);
  expect(rows.map(({ at }) => at.getTime())).toEqual([RIGHT, AHEAD]);
});
