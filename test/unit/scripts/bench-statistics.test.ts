import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeNoise } from '../../../scripts/bench/noise.ts';
import { quantile, relativeSpread, summarize } from '../../../scripts/bench/statistics.ts';

const values = fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 50 });

describe('quantile', () => {
  it.each([
    [[5], 0.5, 5],
    [[3, 1, 2], 0.5, 2],
    [[4, 1, 3, 2], 0.5, 2.5],
    [[10, 20, 30, 40, 50], 0.25, 20],
    [[0, 10], 0.99, 9.9],
    [[9, 100], 0, 9],
    [[9, 100], 1, 100],
  ])('of %j at %d is %d', (list, q, expected) => {
    expect(quantile(list, q)).toBeCloseTo(expected, 10);
  });

  it('lies between the smallest and the largest value, grows with q, and does not modify the list', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, q) => {
        const before = [...list];
        const at = quantile(list, q);
        expect(list).toEqual(before);
        expect(at).toBeGreaterThanOrEqual(Math.min(...list));
        expect(at).toBeLessThanOrEqual(Math.max(...list));
        expect(quantile(list, q / 2)).toBeLessThanOrEqual(at);
      }),
    );
  });

  it.each([[[]], [[1, Number.NaN]], [[1, Number.POSITIVE_INFINITY]]])('refuses %j', (list) => {
    expect(() => quantile(list, 0.5)).toThrow(RangeError);
  });
});

describe('summarize', () => {
  it('returns minimum, median, maximum and the relative interquartile range', () => {
    expect(summarize([100, 90, 110, 80, 120])).toEqual({ min: 80, median: 100, max: 120, spread: 0.2 });
  });

  it('has no spread if all values are equal, also for 0', () => {
    expect(summarize([7, 7, 7]).spread).toBe(0);
    expect(summarize([0, 0]).spread).toBe(0);
    expect(relativeSpread([0, 0, 0, 5], 0, 1)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('judgeNoise', () => {
  const calm = Array.from({ length: 20 }, (_, i) => 10 + (i % 3) / 10);
  const steady = { kind: 'peer', label: 'peer, p50,', values: [50, 51, 52, 50, 51] } as const;

  it('accepts a steady machine, and one outlier', () => {
    expect(judgeNoise(calm, [steady])).toEqual({ noisy: false, reasons: [] });
    expect(judgeNoise([...calm, 40], [steady]).noisy).toBe(false);
  });

  it('rejects a machine whose speed varies', () => {
    const busy = calm.map((time, i) => (i % 4 === 0 ? time * 1.5 : time));
    expect(judgeNoise(busy, [steady]).reasons).toEqual([
      expect.stringMatching(/^the calibration loop's time varies by \d+ %$/),
    ]);
  });

  it('allows more variation for ratios than for a peer', () => {
    const values = [100, 90, 110, 80, 120];
    expect(judgeNoise(calm, [{ kind: 'peer', label: 'peer', values }]).noisy).toBe(true);
    expect(judgeNoise(calm, [{ kind: 'ratio', label: 'ours to peer', values }]).noisy).toBe(false);
    const wider = { kind: 'ratio', label: 'ours to peer', values: [100, 80, 120, 70, 130] } as const;
    expect(judgeNoise(calm, [wider]).reasons).toEqual(['ours to peer varies by 40 %']);
  });

  it('rejects a peer whose repeats vary, and names each', () => {
    const wild = { kind: 'peer', label: 'other, p50,', values: [50, 80, 40, 90, 60] } as const;
    expect(judgeNoise(calm, [steady, wild, wild])).toEqual({
      noisy: true,
      reasons: ['other, p50, varies by 50 %', 'other, p50, varies by 50 %'],
    });
  });
});
