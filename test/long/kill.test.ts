import { expect, test } from 'vitest';
import { chaosSeed, runChaos } from '../support/chaos.ts';
import { brokenPromises, takenUpAfter } from '../support/chaos-verdict.ts';

test('200 creations under kill -9, with their PDFs: nothing is lost, doubled or stuck', async ({ signal }) => {
  const outcome = await runChaos({
    seed: chaosSeed(),
    signal,
    creations: 200,
    kills: 15,
    clients: 4,
    environment: { LOG_LEVEL: 'error' },
    complete: true,
    patienceMs: 120_000,
  });

  const waits = takenUpAfter(outcome);
  console.log(
    `${outcome.kills} kills (${outcome.killsOfStarts} of a start), ${outcome.broken} broken requests; ` +
      `${waits.length} ordinary invoices taken up, at the median after ${waits[waits.length >> 1]} ms, the last after ${waits.at(-1)} ms`,
  );
  expect(brokenPromises(outcome)).toEqual([]);
  expect(outcome.created.size).toBe(200);
  expect(outcome.kills).toBeGreaterThanOrEqual(15);
  expect(waits.length).toBeGreaterThan(0);
  expect(waits.at(-1)).toBeLessThan(10_000);
});
