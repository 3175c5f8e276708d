import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { readNumbers, readRanges } from '../../src/domain/invoice/periods/read-numbers.ts';
import { legalNumber } from '../../src/domain/invoice/series-number.ts';
import { orderAt } from '../../src/domain/order-key.ts';
import type { Owner } from '../../src/domain/tenant/tenant.ts';
import type { Store } from '../../src/storage/connect.ts';
import { documentOf, type InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { type NumberDocument, seriesKey } from '../../src/storage/invoice-numbers.ts';
import { createIssuedNumbers } from '../../src/storage/issued-numbers.ts';
import { pendingInvoice } from '../support/invoices.ts';
import { monthsOf, SERIES_OF_MONTHS } from '../support/issued-months.ts';
import { sampled } from '../support/samples.ts';
import { openTestStore } from '../support/store.ts';

const owner = { tenantId: 'ten_ledger', environment: 'test' } as const;
const other = { tenantId: 'ten_ledger2', environment: 'test' } as const;
const YEAR = '2026';

let store: Store;
beforeAll(async () => {
  store = await openTestStore('issued_numbers');
});
afterAll(() => store.close());

const needs = (now = new Date('2026-12-31T12:00:00Z')) => ({
  issuedNumbers: createIssuedNumbers(store.db),
  now: () => now,
});

interface Issued {
  readonly of?: Owner;
  readonly id?: string;
  /** What the stored document has beyond a new one. */
  readonly set?: object;
}

/** Stores an accepted document with a number. @returns its id */
async function issue(name: string, serial: number, at: string, { of = owner, id: given, set = {} }: Issued = {}) {
  const kind = name.startsWith('AV') ? 'credit_note' : 'invoice';
  const createdAt = new Date(at);
  const id = given ?? newId(kind === 'invoice' ? 'inv' : 'crn');
  const invoice = pendingInvoice({ ...of, id, kind, createdAt, status: 'accepted' });
  const { work: _none, ...stored } = documentOf(invoice, `${orderAt(createdAt.getTime())}${id}`, null);
  const series = { name, serial };
  await store.db.collection<InvoiceDocument>('invoices').insertOne({ ...stored, series, ...set });
  await numbers().insertOne({ _id: seriesKey(of, series), invoiceId: id });
  return id;
}

const numbers = () => store.db.collection<NumberDocument>('invoice_numbers');

/** Reads all pages in one direction, and returns the rows of the ledger in its order. */
async function all(period: string, limit: number, isBackwards = false) {
  const rows: Awaited<ReturnType<typeof readNumbers>>['rows'][number][] = [];
  // The last page comes first where it is read backwards, from behind its last number.
  let id = isBackwards ? legalNumber({ name: `AV-${YEAR}`, serial: 999_999 }) : null;
  for (;;) {
    const cursor = id === null ? null : { direction: isBackwards ? ('before' as const) : ('after' as const), id };
    const page = await readNumbers(needs(), owner, period, { limit, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    if (isBackwards) rows.unshift(...page.rows);
    else rows.push(...page.rows);
    if (!page.hasMore) return rows;
    expect(page.rows.length).toBeGreaterThan(0);
    id = (isBackwards ? page.rows[0] : page.rows.at(-1))?.id ?? null;
  }
}

describe('the ledger of numbers', () => {
  beforeAll(async () => {
    const day = (n: number) => new Date(Date.UTC(2026, 0, 1 + n, 12)).toISOString();
    // An invoice a day but for what was lost in June, and one that is missing in August.
    for (let serial = 1; serial <= 300; serial++) {
      if (serial > 160 && serial <= 170) continue;
      if (serial === 220) continue;
      await issue(YEAR, serial, day(serial - 1));
    }
    await numbers().insertOne({ _id: seriesKey(owner, { name: YEAR, serial: 170 }), invoiceId: 'lost', lostFrom: 161 });
    for (let serial = 1; serial <= 12; serial++)
      await issue(`AV-${YEAR}`, serial, new Date(Date.UTC(2026, serial - 1, 15)).toISOString());
    // The service's series of another tenant, with the same beginning of its key, and the tenant's own numbers.
    await numbers().insertMany([
      { _id: seriesKey(other, { name: YEAR, serial: 1 }), invoiceId: 'inv_other' },
      { _id: `${owner.tenantId} test own ${YEAR} 7`, invoiceId: 'inv_own' },
    ]);
  });

  it.each([1, 7, 50, 100])('has each number once in pages of %s, in both directions, with the gaps', async (limit) => {
    const forwards = await all(YEAR, limit);
    const invoices = forwards.filter(({ id }) => !id.startsWith('AV'));
    expect(invoices.map(({ id }) => id)).toEqual(
      Array.from({ length: 300 }, (_, n) => n + 1)
        .filter((serial) => serial <= 160 || serial >= 170)
        .map((serial) => legalNumber({ name: YEAR, serial })),
    );
    expect(forwards.slice(invoices.length).map(({ id }) => id)).toEqual(
      Array.from({ length: 12 }, (_, n) => legalNumber({ name: `AV-${YEAR}`, serial: n + 1 })),
    );
    const gaps = forwards.filter(({ document }) => document === null).map(({ id, number, fate }) => [number, id, fate]);
    expect(gaps).toEqual([
      ['2026-000161', '2026-000170', 'lost'],
      ['2026-000220', '2026-000220', 'missing'],
    ]);
    expect(await all(YEAR, limit, true)).toEqual(forwards);
  });

  it('has each number in exactly one month, that of its day', async () => {
    const months = Array.from({ length: 12 }, (_, n) => `2026-${String(n + 1).padStart(2, '0')}`);
    const ids: string[] = [];
    for (const month of months) {
      const rows = await all(month, 20);
      for (const { document } of rows) if (document) expect(document.createdAt.toISOString().slice(0, 7)).toBe(month);
      expect(await all(month, 20, true)).toEqual(rows);
      ids.push(...rows.map(({ id }) => id));
    }
    expect(ids.toSorted()).toEqual((await all(YEAR, 100)).map(({ id }) => id).toSorted());
    const quarters = [];
    for (const n of [1, 2, 3, 4]) quarters.push(...(await all(`2026-Q${n}`, 100)).map(({ id }) => id));
    expect(quarters.toSorted()).toEqual(ids.toSorted());
  });

  it('says of each series from where to where it went and what no document has', async () => {
    const june = await readRanges(needs(), owner, '2026-06');
    expect(june).toEqual([
      {
        series: '2026',
        kind: 'invoice',
        first: '2026-000152',
        last: '2026-000181',
        count: 20,
        lost: [{ number: '2026-000161', through: '2026-000170' }],
      },
      {
        series: 'AV-2026',
        kind: 'credit_note',
        lost: [],
        count: 1,
        first: 'AV-2026-000006',
        last: 'AV-2026-000006',
      },
    ]);
    expect(await readRanges(needs(), owner, '2025')).toMatchObject([{ first: null, count: 0 }, { first: null }]);
    expect(await readRanges(needs(), owner, '2026-12')).toMatchObject([{ first: null, count: 0 }, { count: 1 }]);
  });

  it.each([
    ['a number of another year', '2025-000001'],
    ['a number of the client’s own', 'FA 1'],
    ['a long text', `2026-${'9'.repeat(2000)}`],
  ])('refuses as a cursor %s', async (_name, id) => {
    const cursor = { direction: 'after', id } as const;
    await expect(readNumbers(needs(), owner, YEAR, { limit: 5, cursor })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'after',
    });
  });
});

it('says by what documents are replaced and credited, and takes a share of an outside document for none', async () => {
  const of = { tenantId: 'ten_fates', environment: 'test' } as const;
  const put = (name: string, serial: number, set: object = {}, id?: string) =>
    issue(name, serial, '2026-03-05T10:00:00Z', { of, set, ...(id !== undefined && { id }) });
  const ids = { whole: newId('inv'), part: newId('inv'), rejected: newId('inv'), final: newId('inv') };
  const credits = (id: string, number: string) => ({ credit: { original: { id, number } } });
  const whole = await put('AV-2026', 1, credits(ids.whole, '2026-000001'));
  const part = await put('AV-2026', 2, credits(ids.part, '2026-000002'));
  const failed = await put('AV-2026', 3, { ...credits(ids.part, '2026-000002'), status: 'rejected' });
  const replacing = await put('2026', 4, { replaces: { invoice: { id: ids.rejected } } });
  const share = (creditNoteId: string, amount: number) => ({ creditNoteId, amount, at: new Date(), rates: [] });
  const kept = (...list: object[]) => ({ credits: { version: 1, list } });
  await put('2026', 1, kept(share(whole, 12_000), share(ids.final, 5000)), ids.whole);
  await put('2026', 2, kept(share(part, 5000), share(failed, 7000)), ids.part);
  const replacedBy = { invoiceId: replacing, at: new Date(), version: 1 };
  await put('2026', 3, { status: 'rejected', replacedBy }, ids.rejected);
  await put('2026', 5, { status: 'signing' });
  await put('2026', 6, { series: { name: '2026', serial: 99 } });
  const { rows } = await readNumbers(needs(), of, '2026-03', { limit: 20, cursor: null });
  expect(
    rows.map(({ id, fate, replacedBy, creditedBy, document }) => [
      id,
      fate,
      replacedBy?.number ?? null,
      creditedBy.map(({ number }) => number).join(),
      document?.original?.number ?? null,
    ]),
  ).toEqual([
    ['2026-000001', 'credited', null, 'AV-2026-000001', null],
    ['2026-000002', 'partly_credited', null, 'AV-2026-000002', null],
    ['2026-000003', 'rejected', '2026-000004', '', null],
    ['2026-000004', 'accepted', null, '', null],
    ['2026-000005', 'under_way', null, '', null],
    ['2026-000006', 'assigning', null, '', null],
    ['AV-2026-000001', 'accepted', null, '', '2026-000001'],
    ['AV-2026-000002', 'accepted', null, '', '2026-000002'],
    ['AV-2026-000003', 'rejected', null, '', '2026-000002'],
  ]);
});

it('counts the numbers of a series only if it knows all that were passed over', async () => {
  const of = { tenantId: 'ten_gaps', environment: 'test' } as const;
  const lose = (serial: number) =>
    numbers().insertOne({ _id: seriesKey(of, { name: YEAR, serial }), invoiceId: 'lost', lostFrom: serial });
  for (let serial = 2; serial <= 200; serial += 2) await lose(serial);
  await issue(YEAR, 201, '2026-03-05T10:00:00Z', { of });
  const [most] = await readRanges(needs(), of, YEAR);
  expect([most?.count, most?.lost.length]).toEqual([101, 100]);
  await lose(202);
  const [more] = await readRanges(needs(), of, YEAR);
  expect([more?.count, more?.lost.length, more?.last]).toEqual([null, 100, '2026-000202']);
});

it('has each number in exactly one month, also of invoices that waited for a credit note', async () => {
  const replaces = (invoiceId: string) => ({ replaces: { invoice: { id: invoiceId } } });
  let made = 0;
  await fc.assert(
    fc.asyncProperty(SERIES_OF_MONTHS, async (issued) => {
      fc.pre(issued.some(({ day }) => day !== null));
      const of = { tenantId: `ten_late${made++}`, environment: 'test' } as const;
      await Promise.all(
        issued.map(async ({ serial, day, isLate }) => {
          const set = isLate ? replaces(newId('inv')) : {};
          if (day !== null) return issue(YEAR, serial, `${day}T12:00:00Z`, { of, set });
          await numbers().insertOne({ _id: seriesKey(of, { name: YEAR, serial }), invoiceId: 'inv_missing' });
        }),
      );
      const months: Record<string, readonly number[]> = {};
      for (let month = 1; month <= 12; month++) {
        const name = `${YEAR}-${String(month).padStart(2, '0')}`;
        const [range] = await readRanges(needs(), of, name);
        if (!range?.first || !range.last) continue;
        const [from, through] = [range.first, range.last].map((each) => Number(each.slice(-6))) as [number, number];
        months[name] = Array.from({ length: through - from + 1 }, (_, n) => from + n);
      }
      expect(months).toEqual(monthsOf(issued));
    }),
    { numRuns: sampled(60) },
  );
});
