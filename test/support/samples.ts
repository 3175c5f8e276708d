import { type TestFunction, test } from 'vitest';

/** `npm run test:long` runs the files with `sampled` once more with every sample. */
const ALL = process.env.ALL_SAMPLES === '1';

/**
 * How much of a random sample is tried: all of it in `npm run test:long`, a tenth or a twentieth in `npm test`. Least
 * numbers of what a sample must contain are scaled with it.
 * @param count the number in the whole sample
 */
export function sampled(count: number, oneIn: 10 | 20 = 10): number {
  return ALL ? count : Math.ceil(count / oneIn);
}

/**
 * One in some of many cases in `npm test`, all of them in `npm run test:long`.
 * @param every one in how many; none of 5, 13 and 61 divides a group of four, so every place in such a group has its turn
 */
export function* someOf<T>(all: Iterable<T>, every: 5 | 13 | 61 = 5): Generator<T> {
  let nth = 0;
  for (const each of all) if (ALL || nth++ % every === 0) yield each;
}

/** The first variants of a test in `npm test`, all of them in `npm run test:long`: the ones that differ most come first. */
export function firstOf<const Variant>(variants: readonly Variant[], count = 1): readonly Variant[] {
  return ALL ? variants : variants.slice(0, count);
}

/** A test of `npm run test:long` alone: of the same kind as one that `npm test` runs, and longer. */
export const testLong: (name: string, run: TestFunction) => void = ALL ? test : () => undefined;
