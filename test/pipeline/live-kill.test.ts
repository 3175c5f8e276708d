import { describe, expect, test } from 'vitest';
import { PROFILES } from '../../scripts/authority-simulator/options.ts';
import { chaosSeed } from '../support/chaos.ts';
import { briefFaults, runLiveChaos } from '../support/live-chaos.ts';
import { brokenLivePromises } from '../support/live-chaos-verdict.ts';

// The long form, with 1,000 invoices a profile, is `npm run test:long`.
// The three at once: most of each is waiting for retries.
describe.concurrent.each(PROFILES)('an authority that decides by %s', (profile) => {
  test('60 live invoices under faults and kill -9 end in agreement with its ledger', async ({ signal }) => {
    const outcome = await runLiveChaos({
      profile,
      signal,
      seed: chaosSeed(),
      invoices: 60,
      clients: 6,
      faults: briefFaults(0.2),
      patienceMs: 240_000,
      // Each start costs seconds of CPU.
      killEveryMs: 2000,
      kills: 2,
      mostKills: 3,
    });
    console.log(
      `${outcome.kills} kills, settled in ${outcome.settledInMs} ms, faults ${JSON.stringify(outcome.faults)}`,
    );
    expect(brokenLivePromises(outcome)).toEqual([]);
    expect(outcome.kills).toBeGreaterThanOrEqual(2);
    expect(Object.keys(outcome.faults).length).toBeGreaterThan(3);
  }, 400_000);
});
