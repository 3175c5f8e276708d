import fc from 'fast-check';

/** Centimes of every magnitude that an amount may have, 1 to 53 bits. */
export const centimesOfAnyMagnitude = fc
  .integer({ min: 1, max: 53 })
  .chain((bits) => fc.maxSafeNat().map((n) => Math.floor(n / 2 ** (53 - bits))));
