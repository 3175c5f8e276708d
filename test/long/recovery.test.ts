import { afterAll, beforeAll, expect, test } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { type ProcessChaosPlan, runProcessChaos } from '../support/process-chaos.ts';

let mongo: TestMongo;

beforeAll(async () => {
  mongo = await startTestMongo();
});
afterAll(() => mongo.close());

/** So many that a quick machine has not accepted all of them at the last kill. */
const CREATIONS = 3000;

test('four processes, 20 kills: after the last one the backlog settles in twice the time of a run without kills', async ({
  signal,
}) => {
  const plan: ProcessChaosPlan = {
    mongodbUri: mongo.uri,
    signal,
    seed: chaosSeed(),
    processes: 4,
    creations: CREATIONS,
    clients: 32,
    kills: 0,
    killEveryMs: 1000,
    patienceMs: 600_000,
    // No browser starts: what is measured is the way to the final status.
    environment: { CHROMIUM_PATH: '/nonexistent' },
  };
  const calm = await runProcessChaos(plan);
  const chaos = await runProcessChaos({ ...plan, kills: 20 });
  console.log(
    `without kills ${calm.settledMs} ms; after the last of 20 kills ${chaos.settledMs} ms, with ${chaos.openAtLastKill} of ${CREATIONS} open then`,
  );

  for (const { invoices, mostWaiting, complaints } of [calm, chaos]) {
    expect(complaints).toEqual([]);
    // What is due has no job of its own; a wait has one.
    expect(mostWaiting).toBeLessThanOrEqual(1);
    expect(invoices.map(({ events }) => events.map(({ status }) => status).join(' '))).toEqual(
      Array.from({ length: CREATIONS }, () => 'signing transmitted accepted'),
    );
    const serials = invoices.map(({ series }) => series?.serial ?? 0).sort((a, b) => a - b);
    expect(serials).toEqual(Array.from({ length: CREATIONS }, (_, i) => i + 1));
  }
  // Or nothing was to be recovered.
  expect(chaos.openAtLastKill).toBeGreaterThan(0);
  expect(chaos.settledMs).toBeLessThan(2 * calm.settledMs);
});
