/**
 * Spreads an amount in proportion to weights, exactly: the parts add up to it, and differ from their exact shares by
 * less than 1. If the amount does not exceed the sum of the weights, no part exceeds its weight.
 * @param amount not negative
 * @param weights not negative; together above 0 unless the amount is 0
 */
export function spread(amount: bigint, weights: readonly bigint[]): bigint[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0n);
  if (whole > 0n) return roundedShares(amount, { numerators: weights.map((weight) => amount * weight), whole });
  if (amount !== 0n) throw new RangeError('an amount cannot be spread over nothing');
  return weights.map(() => 0n);
}

/**
 * Rounds shares, `numerators / whole`, down; the units that are then missing from their sum go to the shares that lost
 * most, among equal ones to the first.
 * @param sum the required sum of the shares; between the sums of all shares rounded down and rounded up
 */
export function roundedShares(
  sum: bigint,
  { numerators, whole }: { readonly numerators: readonly bigint[]; readonly whole: bigint },
): bigint[] {
  const shares = numerators.map((numerator) => numerator / whole);
  const missing = Number(sum - shares.reduce((given, share) => given + share, 0n));
  const lost = numerators.map((numerator, index) => ({ index, rest: numerator % whole }));
  lost.sort((a, b) => (a.rest === b.rest ? 0 : a.rest > b.rest ? -1 : 1));
  for (const { index } of lost.slice(0, missing)) shares[index] = (shares[index] ?? 0n) + 1n;
  return shares;
}
