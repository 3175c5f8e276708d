import { expect, test } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { startTestMongo } from '../support/mongodb.ts';
import { runPeriodChaos } from '../support/period-chaos.ts';

test('20,000 documents that are decided under kill -9 of three workers: sums as recomputed, by month, rate and status', {
  // Longer than its own patience.
  timeout: 90 * 60_000,
}, async ({ signal }) => {
  const mongo = await startTestMongo();
  try {
    const { answered, recomputed, faults, ended, kills, complaints } = await runPeriodChaos({
      mongodbUri: mongo.uri,
      seed: chaosSeed(),
      documents: 20_000,
      workers: 3,
      kills: 30,
      killEveryMs: 5000,
      patienceMs: 75 * 60_000,
      signal,
    });
    console.log(`${kills} kills; ${JSON.stringify(ended)}; ${answered.length} sums`);
    expect(answered).toEqual(recomputed);
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
    expect(Object.values(ended).reduce((sum, count) => sum + count, 0)).toBe(20_000);
  } finally {
    await mongo.close();
  }
});
