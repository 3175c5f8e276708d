import { expect, it } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { runRolesChaos } from '../support/roles-chaos.ts';
import { brokenPromises } from '../support/roles-chaos-verdict.ts';

// Its long form is in test/long.
it('api and worker processes, killed one after the other, and their store, too: nothing is lost or doubled', {
  // Longer than its own patience.
  timeout: 240_000,
}, async ({ signal }) => {
  const outcome = await runRolesChaos({
    on: 'engine',
    seed: chaosSeed(),
    signal,
    rate: 4,
    seconds: 4,
    killEveryMs: 1500,
    mostKills: 2,
    patienceMs: 90_000,
  });
  expect(brokenPromises(outcome)).toEqual([]);
  expect(outcome.created.size).toBe(16);
  expect(outcome.kills).toBeGreaterThan(0);
});
