import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IssuedNumbers, NumberedDocument } from '../../../src/domain/invoice/periods/number-ledger.ts';
import { periodNamed } from '../../../src/domain/invoice/periods/period.ts';
import { serialsOf } from '../../../src/domain/invoice/periods/series-bounds.ts';
import { type IssuedNumber, monthsOf, SERIES_OF_MONTHS } from '../../support/issued-months.ts';

const owner = { tenantId: 'ten_1', environment: 'test' } as const;
const MONTHS = Array.from({ length: 12 }, (_, n) => `2026-${String(n + 1).padStart(2, '0')}`);

/** The numbers of a series in memory, and how many reads were made of them. */
function inMemory(issued: readonly IssuedNumber[]) {
  const ids = new Map(issued.map((each) => [`inv_${each.serial}`, each]));
  const counter = { reads: 0 };
  const numbers: Pick<IssuedNumbers, 'taken' | 'documents'> = {
    async taken(_owner, _series, { above, upTo }, limit, isBackwards = false) {
      counter.reads++;
      const found = issued.filter(({ serial }) => serial > above && serial <= (upTo ?? Number.POSITIVE_INFINITY));
      return (isBackwards ? found.toReversed() : found)
        .slice(0, limit)
        .map(({ serial }) => ({ serial, invoiceId: `inv_${serial}`, lostFrom: null }));
    },
    async documents(asked) {
      return new Map(
        asked.flatMap((id) => {
          const { day = null, isLate = false } = ids.get(id) ?? {};
          const document = { id, createdAt: new Date(`${day}T12:00:00Z`), replacesId: isLate ? 'inv_0' : null };
          return day === null ? [] : [[id, document as NumberedDocument] as const];
        }),
      );
    },
  };
  return { numbers, counter };
}

/** The serials of each month that has some. */
async function readMonths(issued: readonly IssuedNumber[]) {
  const { numbers } = inMemory(issued);
  const months: Record<string, readonly number[]> = {};
  for (const month of MONTHS) {
    const { above, upTo } = await serialsOf(numbers, owner, '2026', periodNamed(month), '2027-01-15');
    const serials = issued
      .map(({ serial }) => serial)
      .filter((serial) => serial > above && serial <= (upTo ?? issued.length));
    if (serials.length > 0) months[month] = serials;
  }
  return months;
}

/** 100 numbers of November, and 100 of December of which these have documents of November that waited. */
const withLate = (...late: readonly number[]) =>
  Array.from({ length: 200 }, (_, index): IssuedNumber => {
    const isLate = late.includes(index + 1);
    return { serial: index + 1, isLate, day: index < 100 || isLate ? '2026-11-30' : '2026-12-02' };
  });
const range = (from: number, through: number) => Array.from({ length: through - from + 1 }, (_, n) => from + n);

describe('the serials of a month', () => {
  it.each(
    [[], [110], [112], [128], [192], [104, 106], [102, 200], range(102, 160), range(105, 200)].map((late) => ({
      late,
    })),
  )('has numbers of documents that waited beside their neighbours: $late', async ({ late }) => {
    expect(await readMonths(withLate(...late))).toEqual({
      '2026-11': range(1, 100),
      '2026-12': range(101, 200),
    });
  });

  it('has the last documents of a month in it, also if all of them waited', async () => {
    const issued = withLate().map((each) =>
      each.serial > 60 && each.serial <= 100 ? { ...each, isLate: true } : each,
    );
    expect(await readMonths(issued)).toMatchObject({ '2026-11': range(1, 100) });
    // Nor does a document that is issued afterwards move them.
    expect(await readMonths(issued.slice(0, 100))).toEqual({ '2026-11': range(1, 100) });
  });

  it('is each number once, in the latest month that the series had reached', async () => {
    await fc.assert(
      fc.asyncProperty(SERIES_OF_MONTHS, async (issued) => {
        fc.pre(issued.some(({ day }) => day !== null));
        expect(await readMonths(issued)).toEqual(monthsOf(issued));
      }),
      { numRuns: 300 },
    );
  });

  it('reads few numbers, however many documents waited', async () => {
    const issued = Array.from({ length: 4000 }, (_, index) => ({
      serial: index + 1,
      isLate: true,
      day: index < 2000 ? '2026-11-30' : '2026-12-02',
    }));
    const { numbers, counter } = inMemory(issued);
    expect(await serialsOf(numbers, owner, '2026', periodNamed('2026-11'), '2026-12-31')).toEqual({
      above: 0,
      upTo: 2000,
    });
    // Three reads for each of twelve binary digits of both ends.
    expect(counter.reads).toBeLessThanOrEqual(2 * (1 + 3 * 12));
  });
});
