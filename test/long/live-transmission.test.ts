import { describe, expect, test } from 'vitest';
import { PROFILES } from '../../scripts/authority-simulator/options.ts';
import { chaosSeed } from '../support/chaos.ts';
import { realFaults, runLiveChaos } from '../support/live-chaos.ts';
import { brokenLivePromises } from '../support/live-chaos-verdict.ts';

describe.each(PROFILES)('an authority that decides by %s', (profile) => {
  test('1,000 live invoices and their credit notes under faults and kill -9 end in agreement with its ledger', async ({
    signal,
  }) => {
    const outcome = await runLiveChaos({
      profile,
      signal,
      seed: chaosSeed(),
      invoices: 1000,
      clients: 8,
      faults: realFaults(0.2),
      killEveryMs: 5000,
      kills: 10,
      patienceMs: 900_000,
    });
    console.log(
      `${outcome.documents.length} documents, ${outcome.kills} kills, settled in ${outcome.settledInMs} ms, peak of ${outcome.peakPuts} PUTs, faults ${JSON.stringify(outcome.faults)}`,
    );
    expect(brokenLivePromises(outcome)).toEqual([]);
    expect(outcome.kills).toBeGreaterThanOrEqual(10);
    expect(Object.keys(outcome.faults).length).toBeGreaterThan(3);
  }, 1_800_000);
});
