import { type TestFunction, test } from 'vitest';

/** `npm run test:long` also runs the files with `sampled` with all samples. */
const ALL = process.env.ALL_SAMPLES === '1';

/**
 * Returns the size of a random sample: all of it in `npm run test:long`, a tenth or a twentieth in `npm test`. Minimum
 * counts of what a sample must contain are scaled in the same way.
 * @param count the size of the whole sample
 */
export function sampled(count: number, oneIn: 10 | 20 = 10): number {
  return ALL ? count : Math.ceil(count / oneIn);
}

/**
 * Yields a part of many cases in `npm test`, and all of them in `npm run test:long`.
 * @param every the part is one in `every`. None of 5, 13 and 61 divides a group of four, so every position in such a
 *   group occurs
 */
export function* someOf<T>(all: Iterable<T>, every: 5 | 13 | 61 = 5): Generator<T> {
  let nth = 0;
  for (const each of all) if (ALL || nth++ % every === 0) yield each;
}

/**
 * Returns the first variants of a test in `npm test`, and all of them in `npm run test:long`. The most different ones
 * come first.
 */
export function firstOf<const Variant>(variants: readonly Variant[], count = 1): readonly Variant[] {
  return ALL ? variants : variants.slice(0, count);
}

/** Declares a test for `npm run test:long` only: a longer test of a kind that `npm test` also runs. */
export const testLong: (name: string, run: TestFunction) => void = ALL ? test : () => undefined;
