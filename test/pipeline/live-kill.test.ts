import { expect, test } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { briefFaults, runLiveChaos } from '../support/live-chaos.ts';
import { brokenLivePromises } from '../support/live-chaos-verdict.ts';

// The long form, with 1,000 invoices of each profile, is `npm run test:long`.
test('live invoices under faults and kill -9 end in agreement with the ledger of the authority', async ({ signal }) => {
  const outcome = await runLiveChaos({
    profile: 'callback',
    signal,
    seed: chaosSeed(),
    invoices: 24,
    clients: 6,
    faults: briefFaults(0.2),
    patienceMs: 240_000,
    // Each start costs a second of CPU.
    killEveryMs: 2000,
    kills: 1,
    mostKills: 2,
  });
  console.log(`${outcome.kills} kills, settled in ${outcome.settledInMs} ms, faults ${JSON.stringify(outcome.faults)}`);
  expect(brokenLivePromises(outcome)).toEqual([]);
  expect(outcome.kills).toBeGreaterThanOrEqual(1);
  expect(Object.keys(outcome.faults).length).toBeGreaterThan(3);
}, 400_000);
