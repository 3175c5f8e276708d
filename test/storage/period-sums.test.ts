import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { addDays } from '../../src/domain/calendar-date.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Invoice } from '../../src/domain/invoice/invoice.ts';
import type { InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import type { StatusSums } from '../../src/domain/invoice/periods/day-sums.ts';
import type { PeriodSums } from '../../src/domain/invoice/periods/ports.ts';
import { createSumWaiting } from '../../src/domain/invoice/periods/sum-waiting.ts';
import { summedOf } from '../../src/domain/invoice/periods/summed-invoice.ts';
import { newCreationMoment } from '../../src/domain/order-key.ts';
import type { Store } from '../../src/storage/connect.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { createPeriodSums } from '../../src/storage/period-sums.ts';
import { invoicesOf, pendingInvoice } from '../support/invoices.ts';
import { queryPlans } from '../support/query-plans.ts';
import { openBeside, openTestStore } from '../support/store.ts';

const DAY = '2026-11-29';
const NOON = new Date(`${DAY}T12:00:00Z`);
/** The largest amount: two of them are more than a double has exactly, and 1,025 more than 64 bits. */
const LARGEST = Number.MAX_SAFE_INTEGER;

let store: Store;
let sums: PeriodSums;
beforeAll(async () => {
  store = await openTestStore('period_sums', true);
  sums = createPeriodSums(store.db);
});
afterAll(() => store.close());

const stored = () => store.db.collection<InvoiceDocument>('invoices');

/** A stored invoice. @param event the number of events, the last of which is in the outbox; 0 if there is none */
async function invoiceOf(changes: Partial<Invoice>, event: number): Promise<Invoice> {
  const invoice = pendingInvoice({ createdAt: NOON, work: null, ...changes });
  await invoicesOf(store.db).insert(invoice, newCreationMoment().order, null);
  if (event > 0) await setEvent(invoice.id, event);
  return invoice;
}

/** As the update of an event leaves an invoice. */
async function setEvent(invoiceId: string, sequence: number, status?: InvoiceStatus): Promise<void> {
  const $set = { outbox: { sequence, dueAt: new Date() }, ...(status && { status }) };
  await stored().updateOne({ _id: invoiceId }, { $set, $unset: { unsummed: '' } });
}

const published = (invoice: Invoice, sequence: number, status = invoice.status) => ({
  ...summedOf({ ...invoice, status }),
  sequence,
});

/** The sums of a day as text: kind, status, count, total, withheld, and net and VAT by rate. */
async function sumsOf(tenantId: string, date = DAY): Promise<string[]> {
  const days = await sums.days({ tenantId, environment: 'test' }, [date]);
  return days.flatMap((day) => day.sums.map(textOf));
}

function textOf({ kind, status, count, amount, withheld, rates }: StatusSums): string {
  const ofRates = [...rates].map(([rate, { net, tax }]) => `${rate}%: ${net} ${tax}`);
  return [kind, status, count, amount, withheld, ...ofRates].join(' ');
}

it('a document counts once in its day, under its newest status, by rate', async () => {
  const tenantId = newId('ten');
  const invoice = await invoiceOf({ tenantId }, 1);
  const lines = [
    { ...invoice.lines[0], unitPrice: 5000, taxRate: 10 },
    { ...invoice.lines[0], unitPrice: 10_000, taxRate: 20 },
  ] as Invoice['lines'];
  const withholding = { percent: 75, certificate: null };
  const mixed = await invoiceOf({ tenantId, lines, amount: 17_500, withholding }, 1);
  const note = await invoiceOf(
    {
      tenantId,
      id: newId('crn'),
      kind: 'credit_note',
      status: 'accepted',
      amount: 1200,
      credit: {
        original: { id: invoice.id, number: '2026-000001', issueDate: DAY, dgiId: null },
        reason: 'return',
        note: null,
        amount: 1200,
        rates: [{ rate: 20, base: 1000, tax: 200 }],
      },
    },
    1,
  );
  const rows = [published(invoice, 1, 'signing'), published(mixed, 1, 'signing'), published(note, 1)];
  await sums.record(rows);
  await sums.record(rows);
  expect(await sumsOf(tenantId)).toEqual([
    'invoice signing 2 29500 1875 10%: 5000 500 20%: 20000 4000',
    'credit_note accepted 1 1200 0 20%: 1000 200',
  ]);
  await setEvent(mixed.id, 2, 'rejected');
  await sums.record([published(mixed, 2, 'rejected')]);
  await setEvent(invoice.id, 2, 'accepted');
  // The earlier event is published again, as after a crash.
  await sums.record([published(invoice, 1, 'signing'), published(invoice, 2, 'accepted')]);
  expect(await sumsOf(tenantId)).toEqual([
    'invoice accepted 1 12000 0 20%: 10000 2000',
    'invoice rejected 1 17500 1875 10%: 5000 500 20%: 10000 2000',
    'credit_note accepted 1 1200 0 20%: 1000 200',
  ]);
  const left = await stored().findOne({ _id: invoice.id }, { projection: { summed: 1, outbox: 1, unsummed: 1 } });
  expect(left).toEqual({ _id: invoice.id, summed: 'accepted' });
});

it('the day is that of Morocco', async () => {
  const tenantId = newId('ten');
  // One hour ahead of UTC then.
  const createdAt = new Date('2026-06-30T23:30:00Z');
  await sums.record([published(await invoiceOf({ tenantId, createdAt }, 1), 1)]);
  expect(await sumsOf(tenantId, '2026-06-30')).toEqual([]);
  expect(await sumsOf(tenantId, '2026-07-01')).toHaveLength(1);
});

it('sums beyond 64 bits are exact', async () => {
  const tenantId = newId('ten');
  const known = await invoiceOf({ tenantId }, 1);
  const count = 1030;
  const rates = [{ rate: 0, base: LARGEST, tax: 0 }] as const;
  const documents = Array.from({ length: count }, () => ({ ...known, id: newId('inv') }));
  await stored().insertMany(
    documents.map(({ id }) => ({ _id: id, outbox: { sequence: 1, dueAt: new Date() } }) as InvoiceDocument),
  );
  await sums.record(documents.map((each) => ({ ...published(each, 1), amount: LARGEST, rates })));
  const all = BigInt(LARGEST) * BigInt(count);
  expect(all > 2n ** 63n).toBe(true);
  expect(await sumsOf(tenantId)).toEqual([`invoice pending ${count} ${all} 0 0%: ${all} 0`]);
});

it('processes that record the same documents at once count each change once', async () => {
  const tenantId = newId('ten');
  const besides = await Promise.all(Array.from({ length: 3 }, () => openBeside(store)));
  onTestFinished(async () => void (await Promise.all(besides.map((each) => each.close()))));
  const all = [sums, ...besides.map(({ db }) => createPeriodSums(db))];
  const invoices = await Promise.all(Array.from({ length: 40 }, () => invoiceOf({ tenantId }, 1)));
  for (const [sequence, status] of [
    [1, 'signing'],
    [2, 'accepted'],
  ] as const) {
    for (const { id } of invoices) await setEvent(id, sequence, status);
    const rows = invoices.map((each) => published(each, sequence, status));
    await Promise.all(all.map((each, n) => each.record([...rows.slice(n * 10), ...rows.slice(0, n * 10)])));
  }
  expect(await sumsOf(tenantId)).toEqual(['invoice accepted 40 480000 0 20%: 400000 80000']);
});

it('what no event brings is summed by the sweep', async () => {
  const tenantId = newId('ten');
  const waiting = await invoiceOf({ tenantId }, 0);
  await invoiceOf({ tenantId, status: 'accepted' }, 0);
  const changed = await invoiceOf({ tenantId }, 0);
  await stored().updateMany({ unsummed: { $exists: true } }, { $set: { unsummed: new Date(0) } });
  const takeWaiting = vi.fn(sums.takeWaiting);
  takeWaiting.mockImplementationOnce(async (...args) => {
    const found = await sums.takeWaiting(...args);
    // Its event comes after it was read, and is published by another process.
    await setEvent(changed.id, 1, 'signing');
    return found;
  });
  const sweep = createSumWaiting({ ...sums, takeWaiting });
  await sweep();
  await sweep();
  expect(await sumsOf(tenantId)).toEqual([
    'invoice pending 1 12000 0 20%: 10000 2000',
    'invoice accepted 1 12000 0 20%: 10000 2000',
  ]);
  await setEvent(waiting.id, 1, 'rejected');
  await sums.record([published(waiting, 1, 'rejected'), published(changed, 1, 'signing')]);
  const later = createSumWaiting(sums);
  await later();
  expect(await sumsOf(tenantId)).toEqual([
    'invoice signing 1 12000 0 20%: 10000 2000',
    'invoice accepted 1 12000 0 20%: 10000 2000',
    'invoice rejected 1 12000 0 20%: 10000 2000',
  ]);
});

it('a search finds a document by what it stated when it was summed', async () => {
  const tenantId = newId('ten');
  const termsOf = async ({ id }: Invoice) => (await stored().findOne({ _id: id }))?.searchTerms;
  const invoice = await invoiceOf({ tenantId, metadata: { site: 'Souss' } }, 1);
  expect(await termsOf(invoice)).toBeUndefined();
  await sums.record([published(invoice, 1, 'signing')]);
  expect(await termsOf(invoice)).toContain('wsouss');
  const accepted = { ...invoice, number: '2026-000123', dgiId: 'DGI-7' };
  await setEvent(invoice.id, 2, 'accepted');
  await sums.record([published(accepted, 2, 'accepted')]);
  expect(await termsOf(invoice)).toEqual(expect.arrayContaining(['wsouss', 'n3210006202', 'e321', 'd7igd']));
  // The same once more changes nothing.
  const before = await stored().findOne({ _id: invoice.id });
  await setEvent(invoice.id, 3, 'accepted');
  await sums.record([published(accepted, 3, 'accepted')]);
  expect(await stored().findOne({ _id: invoice.id })).toEqual(before);
});

it('what an erasure withholds leaves the outbox and is not summed', async () => {
  const tenantId = newId('ten');
  const invoice = await invoiceOf({ tenantId }, 1);
  await stored().updateOne({ _id: invoice.id }, { $set: { withheld: new Date() } });
  await sums.record([published(invoice, 1)]);
  expect(await sumsOf(tenantId)).toEqual([]);
  expect(await stored().findOne({ _id: invoice.id })).not.toHaveProperty('outbox');
});

it('a document that cannot be summed holds up no other', async () => {
  const tenantId = newId('ten');
  const invoices = await Promise.all(Array.from({ length: 5 }, () => invoiceOf({ tenantId }, 1)));
  const rows = invoices.map((each) => published(each, 1));
  // No number of centimes.
  const bad = { ...(rows[3] as (typeof rows)[number]), amount: 0.5 };
  await expect(sums.record(rows.with(3, bad))).rejects.toThrow();
  expect(await sumsOf(tenantId)).toEqual(['invoice pending 4 48000 0 20%: 40000 8000']);
});

it('every statement uses an index, and a month reads its days', async () => {
  const tenantId = newId('ten');
  const invoices = await Promise.all(
    Array.from({ length: 40 }, (_, n) => invoiceOf({ tenantId, createdAt: new Date(Date.UTC(2026, 9, 1 + n)) }, 1)),
  );
  await sums.record(invoices.map((each) => published(each, 1)));
  const { expectIndexed } = queryPlans(store);
  const one = invoices[0] as Invoice;
  await setEvent(one.id, 2);
  await expectIndexed(() => sums.record([published(one, 2)]), 1);
  await expectIndexed(() => sums.takeWaiting(5, 1000), 5);
  const owner = { tenantId, environment: 'test' } as const;
  const october = Array.from({ length: 31 }, (_, n) => addDays('2026-10-01', n));
  expect(await sums.days(owner, october)).toHaveLength(31);
  await expectIndexed(() => sums.days(owner, october), 31);
});
