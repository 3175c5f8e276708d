import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createCountAttempts,
  createReadStatistics,
  type EndpointHour,
  MOST_HOURS,
} from '../../../src/domain/webhook/endpoint-statistics.ts';
import type { AttemptRecord } from '../../../src/domain/webhook/ports.ts';

const NOW = new Date('2026-11-23T22:30:00Z');
const HOUR_MS = 3_600_000;

/** What an attempt tells of itself: to which endpoint, with which status, after how many others. */
function attempt(
  endpointId: string,
  status: number | null,
  facts: Partial<{ tries: number; retry: boolean; latencyMs: number; at: Date }> = {},
) {
  const { tries = 0, retry = tries > 0, latencyMs = 30, at = NOW } = facts;
  return { claim: { endpointId, tries, retry }, attempt: { at, status, latencyMs } } as unknown as AttemptRecord;
}

/** A store in memory that refuses while it is away. */
function store() {
  const rows = new Map<string, EndpointHour>();
  const writes: number[] = [];
  const plus = (a: EndpointHour['first'], b: EndpointHour['first']) => ({
    delivered: a.delivered + b.delivered,
    failed: a.failed + b.failed,
  });
  return {
    rows,
    writes,
    isAway: false,
    async add(counts: ReadonlyMap<string, readonly EndpointHour[]>) {
      if (this.isAway) throw new Error('away');
      writes.push(counts.size);
      for (const [endpointId, hours] of counts) {
        for (const hour of hours) {
          const key = `${endpointId} ${hour.at.toISOString()}`;
          const old = rows.get(key);
          rows.set(key, {
            at: hour.at,
            first: old ? plus(old.first, hour.first) : hour.first,
            retries: old ? plus(old.retries, hour.retries) : hour.retries,
            latencies: hour.latencies.map((count, nth) => count + (old?.latencies[nth] ?? 0)),
          });
        }
      }
    },
    async read(endpointId: string, hours: readonly Date[]) {
      return hours.flatMap((at) => rows.get(`${endpointId} ${at.toISOString()}`) ?? []);
    },
  };
}

describe('the statistics of an endpoint', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW }));
  afterEach(() => void vi.useRealTimers());

  it('are written together every five seconds, and the rest when the service stops', async () => {
    const memory = store();
    const counting = createCountAttempts(memory, (failure) => Promise.reject(failure));
    for (let n = 0; n < 1000; n++) counting.note(attempt(`we_${n % 3}`, 200));
    await vi.advanceTimersByTimeAsync(4900);
    expect(memory.writes).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(memory.writes).toEqual([3]);
    counting.note(attempt('we_0', 500));
    await counting.stop(1000);
    const read = createReadStatistics(memory, () => NOW);
    expect((await read('we_0', 24)).first).toEqual({ delivered: 334, failed: 1 });
  });

  it('count what was sent again by hand with the retries, although it begins its schedule anew', async () => {
    const memory = store();
    const counting = createCountAttempts(memory, () => undefined);
    counting.note(attempt('we_1', 200, { retry: true }));
    await counting.stop(1000);
    const { first, retries } = await createReadStatistics(memory, () => NOW)('we_1', 1);
    expect([first.delivered, retries.delivered]).toEqual([0, 1]);
  });

  it('tell first attempts from retries, hour by hour, with gaps as zeros', async () => {
    const memory = store();
    const counting = createCountAttempts(memory, () => undefined);
    const before = new Date(NOW.getTime() - 2 * HOUR_MS);
    counting.note(attempt('we_1', 503, { at: before }));
    counting.note(attempt('we_1', 204, { tries: 1 }));
    counting.note(attempt('we_1', null, { tries: 2, latencyMs: 15_000 }));
    await counting.stop(1000);
    const { first, retries, hours, medianMs, p95Ms } = await createReadStatistics(memory, () => NOW)('we_1', 3);
    expect([first, retries]).toEqual([
      { delivered: 0, failed: 1 },
      { delivered: 1, failed: 1 },
    ]);
    expect(
      hours.map(({ at, first: f, retries: r }) => [at.toISOString().slice(11, 13), f.failed, r.delivered]),
    ).toEqual([
      ['20', 1, 0],
      ['21', 0, 0],
      ['22', 0, 1],
    ]);
    // What was not answered has no latency.
    expect([medianMs, p95Ms]).toEqual([50, 50]);
  });

  it('have the class in which half and 95 of 100 of the answers end', async () => {
    const memory = store();
    const counting = createCountAttempts(memory, () => undefined);
    const latencies = [...Array(60).fill(20), ...Array(34).fill(21), ...Array(5).fill(999), 14_000];
    for (const latencyMs of latencies) counting.note(attempt('we_1', 200, { latencyMs }));
    await counting.stop(1000);
    const read = createReadStatistics(memory, () => NOW);
    expect(await read('we_1', 1)).toMatchObject({ medianMs: 20, p95Ms: 1000 });
    expect(await read('we_2', 1)).toMatchObject({ medianMs: null, p95Ms: null });
    for (const hours of [0, -1, 1.5, MOST_HOURS + 1, Number.NaN])
      await expect(read('we_1', hours)).rejects.toThrow(/hours must be an integer from 1 to 168/);
  });

  it('are lost while the store is away, which is reported, and go on afterwards', async () => {
    const memory = store();
    const failures: unknown[] = [];
    const counting = createCountAttempts(memory, (failure) => failures.push(failure));
    memory.isAway = true;
    counting.note(attempt('we_1', 200));
    await vi.advanceTimersByTimeAsync(5100);
    memory.isAway = false;
    counting.note(attempt('we_1', 200));
    await vi.advanceTimersByTimeAsync(5100);
    expect(failures.map(String)).toEqual(['Error: away']);
    expect((await createReadStatistics(memory, () => NOW)('we_1', 1)).first.delivered).toBe(1);
    await counting.stop(1000);
  });
});
