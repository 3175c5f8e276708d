import { expect, test } from 'vitest';
import { chaosSeed, runChaos } from '../support/chaos.ts';
import { brokenPromises, takenUpAfter } from '../support/chaos-verdict.ts';

// The long form, with hundreds of creations and real PDFs, is `npm run test:long`.
test('kill -9 while invoices are created loses, duplicates and delays none', async ({ signal }) => {
  const outcome = await runChaos({
    seed: chaosSeed(),
    signal,
    creations: 12,
    kills: 1,
    clients: 3,
    email: null,
    // The browser cannot start, so rendering is retried, which must not delay the status.
    environment: { CHROMIUM_PATH: '/nonexistent', LOG_LEVEL: 'error' },
    complete: false,
    patienceMs: 60_000,
  });

  expect(brokenPromises(outcome)).toEqual([]);
  expect(outcome.created.size).toBe(12);
  expect(outcome.kills).toBeGreaterThanOrEqual(1);
  const waits = takenUpAfter(outcome);
  console.log(
    `${outcome.kills} kills, ${outcome.broken} broken requests, ${waits.length} invoices taken up, the last after ${waits.at(-1)} ms`,
  );
  expect(waits.length).toBeGreaterThan(0);
  // The long form asserts the guaranteed 10 s. Waiting for the lock of a dead worker to expire would take 30 s.
  expect(waits.at(-1)).toBeLessThan(25_000);
  const accepted = outcome.invoices.filter(({ status }) => status === 'accepted');
  expect(accepted.every(({ work }) => ['receipt', 'render'].includes(work?.stage ?? ''))).toBe(true);
}, 300_000);
