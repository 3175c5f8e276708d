import { longestTurn } from './longest-turn.ts';

const REFERENCE = JSON.stringify(
  Array.from({ length: 20_000 }, (_, nth) => ({ id: `inv_${nth}`, amount: nth * 100, name: 'Atlas Distribution' })),
);
const REFERENCE_MS = 7;

/**
 * How many times slower than usual the machine is at the moment, at least 1: its neighbours take from its caches and
 * clock. Limits of CPU time are multiplied by it.
 */
export async function slowness(): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let left = 3; left > 0; left--) best = Math.min(best, await longestTurn(async () => void JSON.parse(REFERENCE)));
  return Math.max(1, best / REFERENCE_MS);
}
