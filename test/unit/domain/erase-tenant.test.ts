import { describe, expect, it } from 'vitest';
import type { Stage } from '../../../src/domain/invoice/lifecycle.ts';
import type { Owner } from '../../../src/domain/tenant/tenant.ts';
import { createEraseTenant, fateOf } from '../../../src/domain/tenant-data/erase-tenant.ts';
import type { ErasureStore } from '../../../src/domain/tenant-data/erasure.ts';

const NOW = new Date('2026-11-24T12:00:00Z');
const ago = (ms: number) => new Date(NOW.getTime() - ms);

describe('the fate of an invoice', () => {
  const cases: [string, 'test' | 'live', boolean, Stage | null, Date | null, boolean, string][] = [
    ['a test invoice without work', 'test', true, null, null, true, 'remove'],
    ['a test invoice under way', 'test', false, 'sign', null, false, 'detach'],
    ['one that was just taken from its worker', 'test', false, null, ago(1000), true, 'settling'],
    ['the same a while later', 'test', false, null, ago(20_000), true, 'remove'],
    ['a live invoice that is not decided', 'live', false, 'transmit', null, true, 'withhold'],
    ['one that nobody reads any more', 'live', false, 'decide', ago(99_000), true, 'under way'],
    ['one that is not decided and has no work', 'live', false, null, ago(99_000), true, 'under way'],
    ['one that waits for its receipt', 'live', true, 'receipt', null, true, 'withhold'],
    ['one that waits for its PDF', 'live', true, 'render', null, true, 'detach'],
    ['one that waits for its mail', 'live', true, 'email', ago(99_000), true, 'detach'],
    ['one that is decided', 'live', true, null, null, true, 'keep'],
    ['one that was rejected before it had a number', 'live', true, null, null, false, 'remove'],
  ];
  it.each(cases)('%s', (_name, environment, isDecided, stage, withheldAt, isIssued, fate) => {
    const invoice = { id: 'inv_1', order: 'a', isDecided, stage, withheldAt, isIssued };
    expect(fateOf(invoice, environment, ago(15_000))).toBe(fate);
  });
});

/** A store with nothing but so many events. */
function storeOf(events: number) {
  const calls: [name: string, limit: unknown][] = [];
  let left = events;
  const answers: Readonly<Record<string, (...given: never[]) => unknown>> = {
    begin: () => ({ tenantId: 'ten_1', since: NOW, isPending: true }),
    pending: (after: string | null) => (after === null ? [{ tenantId: 'ten_1', since: NOW, isPending: true }] : []),
    invoices: () => [],
    expired: () => [],
    removeRecords: (_tenantId: string, limit: number) => {
      const removed = Math.min(limit, left);
      left -= removed;
      return removed;
    },
  };
  const store = new Proxy({} as ErasureStore, {
    get:
      (own, name: string) =>
      async (...given: never[]) => {
        calls.push([name, given.at(-1)]);
        const answer = (own as unknown as typeof answers)[name] ?? answers[name];
        return (await answer?.(...given)) ?? 0;
      },
  });
  return { store, calls, left: () => left };
}

describe('an erasure', () => {
  const parts = { retentionYears: 10, alone: false, year: () => 2026 };

  it('works in small pieces with a pause after each, and is over a minute later', async () => {
    const { store, calls, left } = storeOf(1234);
    let [pauses, now] = [0, NOW];
    const pause = async (ms: number) => {
      expect(ms).toBeGreaterThanOrEqual(5);
      pauses++;
    };
    const { erase, sweep } = createEraseTenant({ ...parts, store, now: () => now, pause });
    expect(await erase('ten_1', () => undefined)).toEqual({ underWay: 0, isDone: false });
    expect(left()).toBe(0);
    const pieces = calls.filter(([name]) => name.startsWith('remove'));
    expect(pieces.every(([, limit]) => typeof limit === 'number' && limit <= 200)).toBe(true);
    expect(pauses).toBeGreaterThanOrEqual(pieces.length);
    expect(calls.map(([name]) => name)).not.toContain('finish');
    now = new Date(NOW.getTime() + 60_000);
    await sweep(() => undefined);
    expect(calls.at(-1)?.[0]).toBe('finish');
  });

  it('is gone on with for every tenant, also behind a hundred that cannot end', async () => {
    const { store } = storeOf(0);
    const ids = Array.from({ length: 250 }, (_, n) => `ten_${String(n).padStart(3, '0')}`);
    const finished: string[] = [];
    const blocked = (tenantId: string) => tenantId < 'ten_249';
    Object.assign(store, {
      pending: async (after: string | null, limit: number) =>
        ids
          .filter((id) => id > (after ?? ''))
          .slice(0, limit)
          .map((tenantId) => ({ tenantId, since: ago(99_000), isPending: true })),
      // An invoice that the authority has not decided, on the first look.
      invoices: async ({ tenantId, environment }: Owner, before: string | null) =>
        blocked(tenantId) && environment === 'live' && before === null
          ? [{ id: 'inv_1', order: 'a', isDecided: false, stage: 'decide', withheldAt: ago(99_000), isIssued: true }]
          : [],
      finish: async (tenantId: string) => void finished.push(tenantId),
    });
    const { sweep } = createEraseTenant({ ...parts, store, now: () => NOW, pause: async () => {} });
    await sweep(() => undefined);
    expect(finished).toEqual(['ten_249']);
  });

  it('is over at once where nobody else uses the store', async () => {
    const { store } = storeOf(10);
    const { erase } = createEraseTenant({ ...parts, store, alone: true, now: () => NOW, pause: async () => {} });
    expect(await erase('ten_1', () => undefined)).toEqual({ underWay: 0, isDone: true });
  });

  it('ends after the piece that is under way when it is told to', async () => {
    const { store, left } = storeOf(5000);
    const end = new AbortController();
    let pieces = 0;
    const pause = async () => void (++pieces === 8 && end.abort());
    const { erase } = createEraseTenant({ ...parts, store, now: () => NOW, pause, signal: end.signal });
    await expect(erase('ten_1', () => undefined)).rejects.toThrow(/abort/);
    expect(left()).toBeGreaterThan(0);
    expect(pieces).toBe(8);
  });

  it('removes what is expired in pieces, and says of each what it is before it is gone', async () => {
    const { store, calls } = storeOf(0);
    const happened: unknown[] = [];
    const left = [[{ id: 'inv_1' }, { id: 'inv_2' }], [{ id: 'inv_3' }]];
    const own: Partial<ErasureStore> = {
      async expired(now) {
        expect(now).toEqual({ year: 2026, retentionYears: 10 });
        return (left.shift() ?? []) as never;
      },
      removeExpired: async (ids) => void happened.push(['removed', ...ids]),
    };
    const only = new Proxy(store, { get: (real, name: keyof ErasureStore) => own[name] ?? real[name] });
    const { sweep } = createEraseTenant({ ...parts, store: only, now: () => NOW, pause: async () => {} });
    await sweep((expired) => happened.push(['said', ...expired.map(({ id }) => id)]));
    const pieces = [['inv_1', 'inv_2'], ['inv_3']];
    expect(happened).toEqual(pieces.flatMap((ids) => [['said', ...ids], ['removed', ...ids]])); // biome-ignore format: one line
    expect(calls.length).toBeGreaterThan(0);
  });
});
