import { longestTurn } from './longest-turn.ts';

const REFERENCE = JSON.stringify(
  Array.from({ length: 20_000 }, (_, nth) => ({ id: `inv_${nth}`, amount: nth * 100, name: 'Atlas Distribution' })),
);
const REFERENCE_MS = 7;

/**
 * Returns how many times slower than usual the machine is now, at least 1: other load uses its caches and reduces its
 * clock rate. Limits of CPU time are multiplied by it.
 */
export async function slowness(): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let left = 3; left > 0; left--) best = Math.min(best, await longestTurn(async () => void JSON.parse(REFERENCE)));
  return Math.max(1, best / REFERENCE_MS);
}
