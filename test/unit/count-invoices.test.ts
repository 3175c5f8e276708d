import { expect, it } from 'vitest';
import { invoiceDays, type SettledDay } from '../../src/domain/invoice/count-invoices.ts';
import type { StatusCounts } from '../../src/domain/invoice/invoice-queries.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../../src/domain/invoice/lifecycle.ts';
import { moroccanDate, startOfMoroccanDay } from '../../src/domain/morocco/time.ts';
import type { Member } from '../../src/domain/principal.ts';

const HOUR = 3_600_000;
const by = { kind: 'secret', keyId: 'key', tenant: { id: 'ten_1' }, environment: 'test' } as Member;

/** Invoices in memory; `counted` has the length of each counted range in hours. */
function world(at: string) {
  const invoices: { at: number; status: InvoiceStatus }[] = [];
  const kept = new Map<string, SettledDay>();
  const counted: number[] = [];
  const clock = { now: Date.parse(at) };
  const needs: Parameters<typeof invoiceDays.run>[0] = {
    invoices: {
      async countByStatus({ from, until }) {
        counted.push((until - from) / HOUR);
        const of = (status: InvoiceStatus) =>
          invoices.filter((each) => each.status === status && each.at >= from && each.at < until).length;
        return Object.fromEntries(INVOICE_STATUSES.map((status) => [status, of(status)])) as StatusCounts;
      },
    },
    settledCounts: {
      find: async (_tenant, _environment, dates) => new Map([...kept].filter(([date]) => dates.includes(date))),
      async keep(_tenant, _environment, date, { whole, hours, begun }) {
        const earlier = kept.get(date);
        kept.set(date, {
          whole: whole ?? earlier?.whole ?? null,
          hours: new Map([...(earlier?.hours ?? []), ...hours]),
          begun: begun ?? earlier?.begun ?? null,
        });
      },
    },
    now: () => new Date(clock.now),
  };
  const add = (when: string, status: InvoiceStatus) => invoices.push({ at: Date.parse(when), status });
  const days = async (n: number) =>
    (await invoiceDays.run(needs, { by }, n)).map(({ date, counts }) => {
      const { accepted, rejected, ...open } = counts;
      return [date, accepted, rejected, open.pending + open.signing + open.transmitted];
    });
  return { invoices, counted, clock, add, days };
}

it('counts by the day in Morocco, which begins at midnight UTC or an hour before', async () => {
  const { add, days } = world('2025-11-23T12:00:00Z');
  add('2025-11-22T22:59:59Z', 'accepted');
  add('2025-11-22T23:00:00Z', 'rejected');
  expect(await days(2)).toEqual([
    ['2025-11-23', 0, 1, 0],
    ['2025-11-22', 1, 0, 0],
  ]);
  expect(startOfMoroccanDay('2026-02-25')).toBe(Date.parse('2026-02-25T00:00:00Z'));
});

it('every day of a year begins where its date begins', () => {
  for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2027, 0, 1); day += 24 * HOUR) {
    const date = new Date(day).toISOString().slice(0, 10);
    const start = startOfMoroccanDay(date);
    expect([moroccanDate(new Date(start)), moroccanDate(new Date(start - 1)) < date]).toEqual([date, true]);
  }
});

it('counts what is over and final once; an open invoice costs its own hour', async () => {
  const { add, invoices, counted, days } = world('2026-11-23T12:30:00Z');
  add('2026-11-20T10:30:00Z', 'accepted');
  add('2026-11-21T10:30:00Z', 'signing');
  add('2026-11-21T20:30:00Z', 'accepted');
  add('2026-11-23T12:29:00Z', 'pending');
  const first = await days(5);
  expect(first.map((day) => day.slice(1))).toEqual([
    [0, 0, 1],
    [0, 0, 0],
    [1, 0, 1],
    [1, 0, 0],
    [0, 0, 0],
  ]);
  counted.length = 0;
  expect(await days(5)).toEqual(first);
  // What is left of today's hour, of which the beginning is over, and the hour of the open invoice.
  expect(counted).toEqual([40 / 60, 1]);
  for (const invoice of invoices) invoice.status = 'rejected';
  expect((await days(5)).map((day) => day.slice(1))).toEqual([
    [0, 1, 0],
    [0, 0, 0],
    [1, 1, 0],
    [1, 0, 0],
    [0, 0, 0],
  ]);
});

it('does not settle an hour before every process has stored what it created in it', async () => {
  const { add, clock, days } = world('2026-11-23T12:05:00Z');
  expect(await days(1)).toEqual([['2026-11-23', 0, 0, 0]]);
  add('2026-11-23T11:59:59Z', 'accepted');
  expect(await days(1)).toEqual([['2026-11-23', 1, 0, 0]]);
  clock.now = Date.parse('2026-11-23T12:10:00Z');
  await days(1);
  add('2026-11-23T11:59:59Z', 'accepted');
  expect(await days(1)).toEqual([['2026-11-23', 1, 0, 0]]);
});

it('counts of an hour that is not over only what came since, and the last ten minutes', async () => {
  const { add, clock, counted, days } = world('2026-11-23T12:30:40Z');
  add('2026-11-23T12:00:00Z', 'accepted');
  add('2026-11-23T12:19:59Z', 'rejected');
  await days(1);
  counted.length = 0;
  add('2026-11-23T12:20:00Z', 'accepted');
  expect(await days(1)).toEqual([['2026-11-23', 2, 1, 0]]);
  expect(counted).toEqual([40 / 60]);
  clock.now = Date.parse('2026-11-23T12:45:00Z');
  add('2026-11-23T12:40:00Z', 'pending');
  counted.length = 0;
  expect(await days(1)).toEqual([['2026-11-23', 2, 1, 1]]);
  expect(counted).toEqual([15 / 60, 25 / 60]);
  // The open invoice keeps its minutes from settling, the earlier ones stay.
  clock.now = Date.parse('2026-11-23T13:15:00Z');
  counted.length = 0;
  expect(await days(1)).toEqual([['2026-11-23', 2, 1, 1]]);
  expect(counted).toEqual([25 / 60, 5 / 60, 55 / 60]);
  clock.now = Date.parse('2026-11-24T12:15:00Z');
  expect((await days(2))[1]).toEqual(['2026-11-23', 2, 1, 1]);
});

it('refuses other numbers of days', async () => {
  const { days } = world('2026-11-23T12:05:00Z');
  for (const wrong of [0, 32, -1, 1.5]) await expect(days(wrong)).rejects.toThrow('from 1 to 31');
});
