import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import {
  isLateShare,
  laneOf,
  PARTITIONS,
  rangeOf,
  slotAfter,
  slotOf,
  tenantOfSlot,
} from '../../../src/domain/invoice/lanes.ts';
import { STAGES } from '../../../src/domain/invoice/lifecycle.ts';

it('blocked work has no lane; a live invoice never shares one with a test invoice before its PDF', () => {
  for (const stage of STAGES) {
    for (const environment of ['live', 'test'] as const) {
      expect(laneOf(environment, { stage, blocked: 'digest_mismatch' })).toBeNull();
      expect(laneOf(environment, { stage })).not.toBeNull();
    }
    const isShared = laneOf('live', { stage }) === laneOf('test', { stage });
    expect(isShared).toBe(stage === 'render' || stage === 'email');
  }
});

it('a partition is the same in every version, because it is stored', () => {
  expect(Math.floor(slotOf({ tenantId: 'ten_1', id: 'inv_1' }, 'stages'))).toBe(KNOWN[0]);
  expect(Math.floor(slotOf({ tenantId: 'ten_1', id: 'inv_2' }, 'stages'))).toBe(KNOWN[1]);
});
const KNOWN = [1849, 3897];

it('a tenant has one slot for transmissions, of which the oldest go first', () => {
  const slots = Array.from({ length: 50 }, () => slotOf({ tenantId: 'ten_1', id: newId('inv') }, 'transmissions'));
  expect(new Set(slots).size).toBe(1);
});

it('the slots of tenants in the same partition differ, and the next one is behind them', () => {
  const slots = Array.from({ length: 40_000 }, () => slotOf({ tenantId: newId('ten'), id: 'inv_1' }, 'stages'));
  expect(new Set(slots).size).toBeGreaterThan(39_990);
  expect(new Set(slots.map(Math.floor)).size).toBeLessThanOrEqual(PARTITIONS);
  for (const slot of slots) expect(slotAfter(slot)).toBeGreaterThan(slot);
});

it('all slots of a tenant tell the same tenant, those of others another one', () => {
  const tenants = Array.from({ length: 500 }, () => newId('ten'));
  const told = tenants.map((tenantId) => {
    const slots = Array.from({ length: 20 }, () => slotOf({ tenantId, id: newId('inv') }, 'stages'));
    return new Set([...slots, slotOf({ tenantId, id: newId('inv') }, 'transmissions')].map(tenantOfSlot));
  });
  expect(told.every(({ size }) => size === 1)).toBe(true);
  expect(new Set(told.flatMap((each) => [...each])).size).toBeGreaterThan(498);
});

it('a tenant has four partitions, which up to four workers share evenly; tenants spread evenly over all of them', () => {
  const tenantId = newId('ten');
  const own = new Set(Array.from({ length: 400 }, () => slotOf({ tenantId, id: newId('inv') }, 'stages')));
  expect(own.size).toBe(4);
  for (const count of [2, 4]) {
    const workers = Array.from({ length: count }, (_, n) => `wrk_${n}`);
    for (const worker of workers) {
      const { from, until } = rangeOf(workers, worker);
      expect([...own].filter((partition) => partition >= from && partition < until)).toHaveLength(4 / count);
    }
  }
  const counts = new Array<number>(16).fill(0);
  for (let i = 0; i < 16_000; i++) {
    const partition = slotOf({ tenantId: newId('ten'), id: newId('inv') }, 'stages');
    counts[Math.floor((partition * 16) / PARTITIONS)]!++;
  }
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1200);
});

it('the ranges of any workers are disjoint, cover everything and differ by one partition at most', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 }), (workers) => {
      const ranges = workers.map((worker) => rangeOf(workers, worker)).sort((a, b) => a.from - b.from);
      expect(ranges.at(0)?.from).toBe(0);
      expect(ranges.at(-1)?.until).toBe(PARTITIONS);
      for (const [i, { until }] of ranges.slice(0, -1).entries()) expect(ranges[i + 1]?.from).toBe(until);
      const sizes = ranges.map(({ from, until }) => until - from);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
  expect(rangeOf(['a', 'b'], 'unknown')).toEqual({ from: 0, until: PARTITIONS });
});

it('late work is shared evenly, each invoice by one worker in each turn and by all of them in as many turns', () => {
  for (const count of [2, 4, 8]) {
    const names = Array.from({ length: count }, (_, nth) => `w${nth}`);
    const ids = Array.from({ length: 800 }, () => newId('inv'));
    const sharers = (id: string, turn: number) => names.filter((name) => isLateShare(id, rangeOf(names, name), turn));
    const shares = new Map(names.map((name) => [name, 0]));
    for (const id of ids) {
      const turns = Array.from({ length: count }, (_, nth) => sharers(id, 598_000_000 + nth));
      expect(turns.map((each) => each.length)).toEqual(names.map(() => 1));
      expect(new Set(turns.flat()).size).toBe(count);
      const [first = ''] = turns[0] ?? [];
      shares.set(first, (shares.get(first) ?? 0) + 1);
    }
    for (const share of shares.values()) expect(share).toBeGreaterThan(400 / count);
  }
});
