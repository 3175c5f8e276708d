import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Invoice } from '../../../src/domain/invoice/invoice.ts';
import { createNumbering } from '../../../src/domain/invoice/numbering.ts';
import { type Claim, ClaimLost, type InvoiceChange, NumberTaken } from '../../../src/domain/invoice/repository.ts';
import { legalNumber, type SeriesNumber, seriesNumberOf, seriesOf } from '../../../src/domain/invoice/series-number.ts';
import { moroccanDate } from '../../../src/domain/morocco/time.ts';
import { pendingInvoice } from '../../support/invoices.ts';

/** Series with a unique index, shared by any number of processes. Claims of invoices in `lost` are lost. */
function store(lost: ReadonlySet<string> = new Set()) {
  const taken = new Set<string>();
  const updates: number[] = [];
  return {
    taken,
    /** Number of changes in each update that was written. */
    updates,
    awaitingNumber: async () => [],
    seriesNumbersOf: async () => new Map(),
    highestSerial: async (_tenant: string, _environment: string, series: string) => {
      await turn();
      return [...taken].filter((number) => number.startsWith(`${series}-`)).length;
    },
    changeAll: async (changes: readonly (readonly [Claim, InvoiceChange])[]) => {
      await turn();
      const numbers = changes.map(([, { series }]) => `${series?.name}-${series?.serial}`);
      if (changes.some(([{ invoice }]) => lost.has(invoice.id))) throw new ClaimLost('lost');
      if (numbers.some((number) => taken.has(number))) throw new NumberTaken('taken');
      for (const number of numbers) taken.add(number);
      updates.push(numbers.length);
      return changes.map(([claim]) => claim);
    },
  };
}

const FREE_TURNS = { enter: async () => () => undefined };
const claimOf = (id: string, changes: Partial<Invoice> = {}): Claim => ({
  invoice: pendingInvoice({ id, ...changes }),
  token: 't',
});
const prepare = async (series: SeriesNumber) => {
  await turn();
  return { change: { series, work: null }, made: series.serial };
};
const numbersOf = (year: number, count: number) => Array.from({ length: count }, (_, i) => `${year}-${i + 1}`);

/** Turns as processes on one store take them, with the series of each turn. */
function sharedTurns() {
  const entered: string[] = [];
  let last: Promise<void> = Promise.resolve();
  return {
    entered,
    async enter(series: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = last;
      last = promise;
      await before;
      entered.push(series);
      return resolve;
    },
  };
}

describe('turns at a series', () => {
  it('are taken once another process numbers it, too: then no document is prepared in vain', async () => {
    const [shared, turns] = [store(), sharedTurns()];
    let prepares = 0;
    const processes = Array.from({ length: 4 }, () => createNumbering<number>(shared, turns, shared.changeAll));
    const number = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          processes[i % 4]?.assign(claimOf(`inv_${Math.random()}`), (series) => {
            prepares++;
            return prepare(series);
          }),
        ),
      );
    // The first invoices of each process meet.
    await number(8);
    expect(turns.entered.length).toBeGreaterThan(0);
    prepares = 0;
    await number(400);
    expect(shared.taken.size).toBe(408);
    // A process that lost nothing so far may meet the others once, with one group.
    expect(prepares - 400).toBeLessThanOrEqual(32);
  });

  it('are not taken by a process that numbers a series alone', async () => {
    const [shared, turns] = [store(), sharedTurns()];
    const numbering = createNumbering<number>(shared, turns, shared.changeAll);
    await Promise.all(Array.from({ length: 100 }, (_, i) => numbering.assign(claimOf(`inv_${i}`), prepare)));
    expect(turns.entered).toEqual([]);
  });
});

describe('the legal series', () => {
  it('has neither gaps nor duplicates when several processes number at once, and claims and documents fail', async () => {
    const ids = Array.from({ length: 200 }, (_, i) => `inv_${i}`);
    const shared = store(new Set(ids.filter((_, i) => i % 10 === 7)));
    const processes = Array.from({ length: 3 }, () => createNumbering<number>(shared, FREE_TURNS, shared.changeAll));
    const settled = await Promise.allSettled(
      ids.map(async (id, i) => {
        if (i % 50 === 0) await turn();
        return processes[i % 3]?.assign(claimOf(id), (series) =>
          i % 10 === 3 ? Promise.reject(new Error('no document')) : prepare(series),
        );
      }),
    );
    const made = settled.map((each) => (each.status === 'fulfilled' ? (each.value?.made ?? 0) : each.reason));
    for (const [i, each] of made.entries()) {
      if (i % 10 === 7) expect(each).toBeInstanceOf(ClaimLost);
      else if (i % 10 === 3) expect(each).toMatchObject({ message: 'no document' });
      else expect(each).toBeGreaterThan(0);
    }
    const serials = made.filter((each) => typeof each === 'number').sort((a, b) => a - b);
    expect(serials).toEqual(Array.from({ length: 160 }, (_, i) => i + 1));
    expect(new Set(numbersOf(2026, 160))).toEqual(shared.taken);
  });

  it('gives those that wait at the same time consecutive numbers by one update, in their order', async () => {
    const shared = store();
    const numbering = createNumbering<number>(shared, FREE_TURNS, shared.changeAll);
    const numbered = await Promise.all(
      Array.from({ length: 40 }, (_, i) => numbering.assign(claimOf(`inv_${i}`), prepare)),
    );
    expect(numbered.map(({ made }) => made)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(shared.updates).toEqual([32, 8]);
  });

  it('keeps a failure of the store from none of those that wait', async () => {
    const shared = store();
    const away = () => Promise.reject(new TypeError('away'));
    const numbering = createNumbering<number>(shared, FREE_TURNS, away);
    const settled = await Promise.allSettled(['inv_1', 'inv_2'].map((id) => numbering.assign(claimOf(id), prepare)));
    expect(settled).toMatchObject([{ reason: { message: 'away' } }, { reason: { message: 'away' } }]);
  });

  it('restarts each year, while invoices of the old year still get numbers of that year', async () => {
    const shared = store();
    const numbering = createNumbering<number>(shared, FREE_TURNS, shared.changeAll);
    for (const at of ['2025-12-31T22:00Z', '2025-12-31T23:30Z', '2025-12-31T22:59:59.999Z', '2026-01-01T00:10Z'])
      await numbering.assign(claimOf(at, { createdAt: new Date(at) }), prepare);
    expect([...shared.taken]).toEqual(['2025-1', '2026-1', '2025-2', '2026-2']);
  });

  it('of credit notes is another one of the same year, also among those that are numbered together', async () => {
    const shared = store();
    const numbering = createNumbering<number>(shared, FREE_TURNS, shared.changeAll);
    const kinds = ['invoice', 'credit_note', 'credit_note', 'invoice', 'credit_note'] as const;
    const numbered = await Promise.all(
      kinds.map((kind, i) => numbering.assign(claimOf(`doc_${i}`, { kind }), prepare)),
    );
    expect(numbered.map(({ made }) => made)).toEqual([1, 1, 2, 2, 3]);
    expect(shared.updates).toEqual([2, 3]);
    expect([...shared.taken].sort()).toEqual(['2026-1', '2026-2', 'AV-2026-1', 'AV-2026-2', 'AV-2026-3']);
  });

  // Past times, whose rule cannot change: in the time zone database 2026c Morocco keeps UTC from 2026-09-20 on.
  it('uses the year and day in Morocco: UTC+1 at that time, and UTC during Ramadan', () => {
    const seriesAt = (at: string) => seriesOf({ kind: 'invoice', createdAt: new Date(at) });
    expect(seriesAt('2025-12-31T22:59:59.999Z')).toBe('2025');
    expect(seriesAt('2025-12-31T23:00:00Z')).toBe('2026');
    expect(moroccanDate(new Date('2026-02-28T23:30:00Z'))).toBe('2026-02-28');
    expect(moroccanDate(new Date('2026-06-30T23:30:00Z'))).toBe('2026-07-01');
  });
});

describe('a legal number', () => {
  it.each([
    ['2026-000123', { name: '2026', serial: 123 }],
    ['AV-2026-000123', { name: 'AV-2026', serial: 123 }],
    ['AV-2026-1000000', { name: 'AV-2026', serial: 1_000_000 }],
  ])('%s is read as it is written', (text, series) => {
    expect(legalNumber(series)).toBe(text);
    expect(seriesNumberOf(text)).toEqual(series);
  });

  it.each([
    '2026-123',
    'AV-2026-123',
    '2026-0000123',
    'AV-2026-0000123',
    'AV2026-000123',
    'AVO-2026-000123',
    'av-2026-000123',
    'AV-AV-2026-000123',
    'AV-2026-000123 ',
    '-2026-000123',
    'AV-2026-9007199254740993',
  ])('%s is none of the service', (text) => {
    expect(seriesNumberOf(text)).toBeNull();
  });

  it('belongs to the series of its kind and of the year in Morocco', () => {
    const newYear = new Date('2025-12-31T23:30:00Z');
    expect(seriesOf({ kind: 'invoice', createdAt: newYear })).toBe('2026');
    expect(seriesOf({ kind: 'credit_note', createdAt: newYear })).toBe('AV-2026');
  });
});
