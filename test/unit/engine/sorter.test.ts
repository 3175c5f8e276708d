import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PAUSE, withoutPauses } from '../../../src/engine/query/pause.ts';
import { mergeSorted, Sorter } from '../../../src/engine/query/sorter.ts';
import { RidSorter } from '../../../src/engine/store/rid-sorter.ts';

interface Entry {
  key: number;
  place: number;
}

const byKey = (a: Entry, b: Entry) => a.key - b.key;
const entries = (keys: readonly number[]) => keys.map((key, place): Entry => ({ key, place }));
const random = (count: number, most: number) => Array.from({ length: count }, () => Math.floor(Math.random() * most));

it.each([Number.POSITIVE_INFINITY, 3000, 2000, 10, 1])(
  'sorts as Array.sort does, with equal entries in their order, up to %d',
  (keep) => {
    const given = entries(random(10_000, 500));
    const dropped: Entry[] = [];
    const sorter = new Sorter(byKey, keep, (entry) => dropped.push(entry));
    for (const entry of given) sorter.add(entry);
    const sorted = [...withoutPauses(sorter.sorted())];
    expect(sorted).toEqual(given.toSorted(byKey).slice(0, keep));
    const kept = new Set(sorted);
    expect(dropped.filter((entry) => kept.has(entry))).toEqual([]);
  },
);

it('merges sorted sources, pauses included, and ends them all when it is ended', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 8 }), { maxLength: 12 }), (lists) => {
      const sources = lists.map((list, n) => list.sort((a, b) => a - b).map((key): Entry => ({ key, place: n })));
      const paused = sources.map((source) => source.flatMap((entry) => [PAUSE, entry] as const));
      const merged = [...mergeSorted<Entry>(paused, byKey)];
      expect(merged.filter((item) => item !== PAUSE)).toEqual(sources.flat().sort(byKey));
      expect(merged.filter((item) => item === PAUSE)).toHaveLength(sources.flat().length);
    }),
  );
  let open = 0;
  const source = function* (): Generator<Entry> {
    open++;
    try {
      for (let key = 0; ; key++) yield { key, place: 0 };
    } finally {
      open--;
    }
  };
  const [first] = mergeSorted([source(), source(), source()], byKey);
  expect(first).toEqual({ key: 0, place: 0 });
  expect(open).toBe(0);
});

/** The row ids of sorted keys, spilled whenever the sorter is full. @returns the number of spills too */
function sortRids(sorter: RidSorter, keys: readonly Buffer[]): { rids: number[]; spills: number } {
  let spills = 0;
  for (const [rid, key] of keys.entries()) {
    sorter.add({ rid, key, bytes: Buffer.from(`document ${rid}`) });
    if (!sorter.isFull) continue;
    for (const _ of sorter.spill());
    spills++;
  }
  const sorted = [...withoutPauses(sorter.entries())];
  for (const { rid, bytes } of sorted) expect(Buffer.from(bytes as Uint8Array).toString()).toBe(`document ${rid}`);
  return { rids: sorted.map(({ rid }) => rid), spills };
}

it('sorts more keys than it keeps in memory, by way of a file', () => {
  // Each needs 1 kB, so that 8 MB are sorted.
  const keys = random(8000, 300).map((n) => Buffer.from(String(n).padStart(1000, '0')));
  const memoryBytes = 3 * 1024 * 1024;
  const wanted = [...keys.keys()].sort((a, b) => Buffer.compare(keys[a] as Buffer, keys[b] as Buffer) || a - b);
  const all = sortRids(new RidSorter(Number.POSITIVE_INFINITY, true, memoryBytes), keys);
  expect(all.spills).toBeGreaterThan(1);
  expect(all.rids).toEqual(wanted);
  const some = sortRids(new RidSorter(5000, true, memoryBytes), keys);
  expect(some.rids).toEqual(wanted.slice(0, 5000));
  // The first few need no file, however many are sorted.
  const few = sortRids(new RidSorter(10, true, memoryBytes), keys);
  expect(few).toEqual({ rids: wanted.slice(0, 10), spills: 0 });
});

it('refuses more than 100 MiB of keys and documents if it must not use the disk', () => {
  const [key, bytes] = [Buffer.alloc(512 * 1024), Buffer.alloc(512 * 1024)];
  const sorter = new RidSorter(Number.POSITIVE_INFINITY, false);
  for (let rid = 0; rid < 99; rid++) sorter.add({ rid, key, bytes });
  expect(() => {
    sorter.add({ rid: 99, key, bytes });
  }).toThrow(expect.objectContaining({ code: 292 }));
  // The first few need less, however many are sorted.
  const few = new RidSorter(2, false);
  for (let rid = 0; rid < 300; rid++) few.add({ rid, key, bytes });
  expect(Array.from(withoutPauses(few.entries()), ({ rid }) => rid)).toEqual([0, 1]);
});
