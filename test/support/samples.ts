/** `npm run test:long` runs the files with `sampled` once more with every sample. */
const ALL = process.env.ALL_SAMPLES === '1';

/**
 * How much of a random sample is tried: all of it in `npm run test:long`, a tenth in `npm test`. Least numbers of what a
 * sample must contain are scaled with it.
 * @param count the number in the whole sample
 */
export function sampled(count: number): number {
  return ALL ? count : Math.ceil(count / 10);
}

/** One in five of many cases in `npm test`, all of them in `npm run test:long`. Five, so that of groups of four every place has its turn. */
export function* someOf<T>(all: Iterable<T>): Generator<T> {
  let nth = 0;
  for (const each of all) if (ALL || nth++ % 5 === 0) yield each;
}
