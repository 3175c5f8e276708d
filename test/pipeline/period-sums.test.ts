import { expect, it } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { startTestMongo } from '../support/mongodb.ts';
import { runPeriodChaos } from '../support/period-chaos.ts';

// Its long form is in test/long.
it('workers that are killed while documents are decided leave the sums of each month, rate and status exact', {
  // Longer than its own patience.
  timeout: 240_000,
}, async ({ signal }) => {
  const mongo = await startTestMongo();
  try {
    const { answered, recomputed, faults, ended, complaints } = await runPeriodChaos({
      mongodbUri: mongo.uri,
      seed: chaosSeed(),
      documents: 150,
      workers: 2,
      kills: 2,
      killEveryMs: 1500,
      patienceMs: 120_000,
      signal,
    });
    expect(answered).toEqual(recomputed);
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
    expect(Object.keys(ended).sort()).toEqual([
      ...['credit_note accepted', 'credit_note rejected'],
      ...['invoice accepted', 'invoice rejected'],
    ]);
  } finally {
    await mongo.close();
  }
});
