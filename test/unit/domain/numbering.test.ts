import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { moroccanDate } from '../../../src/domain/calendar-date.ts';
import { seriesYear } from '../../../src/domain/invoice/legal-invoice.ts';
import { createNumbering } from '../../../src/domain/invoice/numbering.ts';
import { NumberTaken, type SeriesNumber } from '../../../src/domain/invoice/repository.ts';
import { pendingInvoice } from '../../support/invoices.ts';

/** Series with a unique index, shared by any number of processes. */
function store() {
  const taken = new Set<string>();
  return {
    taken,
    highestSerial: async (_tenant: string, _environment: string, year: number) => {
      await turn();
      return [...taken].filter((number) => number.startsWith(`${year}-`)).length;
    },
    claim: async ({ year, serial }: SeriesNumber) => {
      await turn();
      if (taken.has(`${year}-${serial}`)) throw new NumberTaken('taken');
      taken.add(`${year}-${serial}`);
      return serial;
    },
  };
}

describe('the legal series', () => {
  it('has neither gaps nor duplicates when several processes claim at once and claims fail', async () => {
    const shared = store();
    const processes = Array.from({ length: 3 }, () => createNumbering(shared));
    const claims = Array.from({ length: 90 }, (_, i) =>
      processes[i % 3]?.withNext(pendingInvoice({}), async (series) => {
        if (i % 10 === 7) throw new Error('the worker lost its claim');
        return shared.claim(series);
      }),
    );
    const serials = (await Promise.allSettled(claims)).flatMap((each) =>
      each.status === 'fulfilled' ? [each.value ?? 0] : [],
    );
    expect(serials.sort((a, b) => a - b)).toEqual(Array.from({ length: 81 }, (_, i) => i + 1));
  });

  it('restarts each year, while invoices of the old year still get numbers of that year', async () => {
    const shared = store();
    const numbering = createNumbering(shared);
    const claim = (createdAt: string) =>
      numbering.withNext(pendingInvoice({ createdAt: new Date(createdAt) }), shared.claim);
    for (const at of ['2025-12-31T22:00Z', '2025-12-31T23:30Z', '2025-12-31T22:59:59.999Z', '2026-01-01T00:10Z'])
      await claim(at);
    expect([...shared.taken]).toEqual(['2025-1', '2026-1', '2025-2', '2026-2']);
  });

  // Past times, whose rule cannot change: in the time zone database 2026c Morocco keeps UTC from 2026-09-20 on.
  it('uses the year and day in Morocco: UTC+1 at that time, and UTC during Ramadan', () => {
    expect(seriesYear(new Date('2025-12-31T22:59:59.999Z'))).toBe(2025);
    expect(seriesYear(new Date('2025-12-31T23:00:00Z'))).toBe(2026);
    expect(moroccanDate(new Date('2026-02-28T23:30:00Z'))).toBe('2026-02-28');
    expect(moroccanDate(new Date('2026-06-30T23:30:00Z'))).toBe('2026-07-01');
  });
});
