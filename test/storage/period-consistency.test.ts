import type { CommandSucceededEvent } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import { summedOf } from '../../src/domain/invoice/periods/summed-invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import { findInconsistencies } from '../../src/storage/consistency.ts';
import { DAY_SUMS_COLLECTION, type DaySumsDocument } from '../../src/storage/day-sums.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { checkedDays } from '../../src/storage/period-consistency.ts';
import { createPeriodSums } from '../../src/storage/period-sums.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { openTestStore } from '../support/store.ts';

const DAY = '2026-11-29';
const createdAt = new Date(`${DAY}T12:00:00Z`);

let store: Store;
let tenantId: string;
let invoice: Invoice;
let day: { readonly _id: string };

beforeAll(async () => {
  store = await openTestStore('period_consistency', true);
  tenantId = newId('ten');
  day = { _id: `${tenantId} test ${DAY}` };
  await createTenantRepository(store.db).insert({ id: tenantId, name: 'T', profile: {}, createdAt }, []);
  invoice = await summed();
  await summed();
});
afterAll(() => store.close());

const addedDays = (nth: number) => new Date(createdAt.getTime() + nth * 86_400_000);

const stored = () => store.db.collection<InvoiceDocument>('invoices');
const days = () => store.db.collection<DaySumsDocument>(DAY_SUMS_COLLECTION);

async function summed(): Promise<Invoice> {
  const made = pendingInvoice({ tenantId, createdAt, work: null, status: 'rejected' });
  await invoicesOf(store.db).insert(made, newCreationMoment().order, null);
  await record(made);
  return made;
}

/** Sums an invoice that waits, as the sweep does. */
async function record(made: Invoice): Promise<void> {
  const mark = new Date();
  await stored().updateOne({ _id: made.id }, { $set: { unsummed: mark } });
  await createPeriodSums(store.db).recordWaiting([summedOf(made)], mark);
}

const faults = () => Array.fromAsync(findInconsistencies(store.db));
const OTHER_SUMS = () => [`sums of ${day._id}: they are not those of its invoices`];

it('sums that are those of the invoices are no fault, and their days are counted', async () => {
  const checking = findInconsistencies(store.db);
  expect(await checking.next()).toMatchObject({ done: true, value: { invoices: 2, days: 1 } });
});

it.each([
  ['a count', { 'invoice.rejected.count': 1 }],
  ['a rate', { 'invoice.rejected.rates.20.net': 1 }],
  ['another status', { 'invoice.accepted.count': 1 }],
  ['another kind', { 'credit_note.rejected.count': 1 }],
])('%s that the invoices do not have is found', async (_name, $inc) => {
  await days().updateOne(day, { $inc });
  expect(await faults()).toEqual(OTHER_SUMS());
  await days().updateOne(day, { $inc: Object.fromEntries(Object.keys($inc).map((path) => [path, -1])) });
  expect(await faults()).toEqual([]);
});

it('sums of a day without invoices are found, and invoices without sums', async () => {
  const [kept] = await days().find(day).toArray();
  await days().deleteOne(day);
  expect(await faults()).toEqual(OTHER_SUMS());
  await days().insertMany([
    { ...kept, _id: `${tenantId} test 2026-11-28` },
    { ...kept, ...day },
  ]);
  expect(await faults()).toEqual([`sums of ${tenantId} test 2026-11-28: they are not those of its invoices`]);
  await days().deleteOne({ _id: `${tenantId} test 2026-11-28` });
});

it('an invoice that the sums have under another status, or not at all, is found', async () => {
  const { id } = invoice;
  const text = (how: string) => `invoice ${id}: it is rejected, and the sums of its day have it ${how}`;
  await stored().updateOne({ _id: id }, { $set: { summed: 'signing' } });
  expect(await faults()).toEqual([text('as signing'), ...OTHER_SUMS()]);
  await stored().updateOne({ _id: id }, { $unset: { summed: '' } });
  await stored().updateOne({ _id: id }, { $set: { unsummed: new Date() } });
  expect(await faults()).toEqual(OTHER_SUMS());
  await stored().updateOne({ _id: id }, { $unset: { unsummed: '' } });
  expect(await faults()).toEqual([text('not at all'), ...OTHER_SUMS()]);
  await stored().updateOne({ _id: id }, { $set: { summed: 'rejected' } });
  expect(await faults()).toEqual([]);
});

it('an invoice that a search does not find by what it states is found', async () => {
  const { id } = invoice;
  const { searchTerms } = (await stored().findOne({ _id: id })) ?? {};
  await stored().updateOne({ _id: id }, { $pop: { searchTerms: 1 } });
  expect(await faults()).toEqual([`invoice ${id}: a search does not find it by what it states`]);
  await stored().updateOne({ _id: id }, { $set: { searchTerms: searchTerms ?? [] } });
  expect(await faults()).toEqual([]);
});

it('an invoice that got its number after the sweep is found by it, and is no fault before', async () => {
  const sums = createPeriodSums(store.db);
  const due = (unsummed: Date) => stored().updateOne({ _id: made.id }, { $set: { unsummed } });
  const made = pendingInvoice({ tenantId, createdAt, work: null });
  await invoicesOf(store.db).insert(made, newCreationMoment().order, null);
  await due(new Date(0));
  const read = await sums.takeWaiting(10, 1000);
  const number = {
    invoice: { id: made.id, tenantId, environment: 'test' },
    series: { name: '2026', serial: 77 },
  } as const;
  await invoicesOf(store.db).changeAll([], 1000, [number]);
  // As the sweep read it, before it had its number.
  await sums.recordWaiting(read.invoices.map(summedOf), read.mark);
  expect((await stored().findOne({ _id: made.id }))?.searchTerms).toBeUndefined();
  expect(await faults()).not.toContainEqual(expect.stringContaining(made.id));
  await due(new Date(0));
  const again = await sums.takeWaiting(10, 1000);
  await sums.recordWaiting(again.invoices.map(summedOf), again.mark);
  expect((await stored().findOne({ _id: made.id }))?.searchTerms).toContain('n7700006202');
  expect(await faults()).not.toContainEqual(expect.stringContaining(made.id));
});

it('what the service sums during the check is no fault', async () => {
  const sums = days();
  let made: Invoice | null = null;
  /** The store, in which an invoice is summed after its invoices were read and before its sums are. */
  const changing = {
    client: store.client,
    collection(name: string) {
      if (name !== DAY_SUMS_COLLECTION) return store.db.collection(name);
      return {
        findOne: sums.findOne.bind(sums),
        find: (filter: object) => ({
          async toArray() {
            made ??= await summed();
            return sums.find(filter).toArray();
          },
        }),
      };
    },
  };
  expect(await Array.fromAsync(checkedDays(changing as never))).toEqual([]);
  expect(made).not.toBeNull();
});

it('a day is read again without those after the next day', async () => {
  const owner = newId('ten');
  await createTenantRepository(store.db).insert({ id: owner, name: 'T', profile: {}, createdAt }, []);
  for (const nth of [0, 1, 2, 3, 4]) {
    const made = pendingInvoice({ tenantId: owner, createdAt: addedDays(nth), work: null });
    await invoicesOf(store.db).insert(made, newCreationMoment().order, null);
    await record(made);
  }
  await days().updateMany({ _id: { $regex: `^${owner} ` } }, { $inc: { 'invoice.pending.count': 1 } });
  const read: number[] = [];
  const listener = ({ commandName, reply }: CommandSucceededEvent) => {
    const { firstBatch, ns } =
      (reply as { cursor?: { firstBatch: { kind?: string; tenantId?: string }[]; ns: string } }).cursor ?? {};
    const [first] = firstBatch ?? [];
    if (commandName === 'find' && ns?.endsWith('.invoices') && first?.kind === 'invoice' && first.tenantId === owner)
      read.push(firstBatch?.length ?? 0);
  };
  store.client.on('commandSucceeded', listener);
  expect(await Array.fromAsync(checkedDays(store.db))).toHaveLength(5);
  store.client.off('commandSucceeded', listener);
  // All once, then each day with the next.
  expect(read).toEqual([5, 2, 2, 2, 2, 1]);
  await days().updateMany({ _id: { $regex: `^${owner} ` } }, { $inc: { 'invoice.pending.count': -1 } });
});

it('an erased tenant is not compared', async () => {
  await days().updateOne(day, { $inc: { 'invoice.rejected.count': 1 } });
  await store.db.collection('tenants').updateOne({ _id: tenantId as never }, { $set: { erasure: { pending: true } } });
  expect(await faults()).toEqual([]);
});
