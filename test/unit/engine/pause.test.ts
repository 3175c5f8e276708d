import { describe, expect, it } from 'vitest';
import { drained, filtered, PAUSE, PAUSE_ITEMS, type Pausing } from '../../../src/engine/query/pause.ts';

const COUNT = 40;

/** Items that take as long to make as large documents do to decode. */
function* costly(ms: number): Generator<number> {
  for (let n = 0; n < COUNT; n++) {
    const until = performance.now() + ms;
    while (performance.now() < until);
    yield n;
  }
}

const cheap = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

const pauses = (steps: Pausing<unknown>): number => [...steps].filter((step) => step === PAUSE).length;

describe('a loop over many items', () => {
  it.each<[string, (items: Iterable<number>) => Pausing<unknown>]>([
    ['that takes them', (items) => drained(items, () => {})],
    ['that refuses them', (items) => filtered(items, () => false)],
  ])('%s pauses after each that is costly, or after many', (_, run) => {
    expect(pauses(run(costly(2)))).toBe(COUNT);
    expect(pauses(run(cheap(COUNT)))).toBeLessThan(COUNT / 4);
    expect(pauses(run(cheap(10 * PAUSE_ITEMS)))).toBeGreaterThanOrEqual(10);
  });
});
