/** `npm run test:long` runs the files with `sampled` once more with every sample. */
const ALL = process.env.ALL_SAMPLES === '1';

/**
 * How much of a random sample is tried: all of it in `npm run test:long`, a quarter in `npm test`. Least numbers of
 * what a sample must contain are scaled with it.
 * @param count the number in the whole sample
 */
export function sampled(count: number): number {
  return ALL ? count : Math.ceil(count / 4);
}
