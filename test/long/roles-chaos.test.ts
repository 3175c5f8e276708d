import { expect, test } from 'vitest';
import { chaosSeed } from '../support/chaos.ts';
import { runRolesChaos } from '../support/roles-chaos.ts';
import { brokenPromises } from '../support/roles-chaos-verdict.ts';

// CHAOS_STORE=reference takes the independent server, which never ends the transaction of a client that was killed: MongoDB
// does after a minute. What waits for such a row waits for ever there.
const SECONDS = Number(process.env.CHAOS_SECONDS ?? 900);

test(`two api and two worker processes for ${SECONDS} s, one killed every few seconds, the store restarted once: nothing is lost or doubled`, async ({
  signal,
}) => {
  const outcome = await runRolesChaos({
    on: process.env.CHAOS_STORE === 'reference' ? 'reference' : 'engine',
    seed: chaosSeed(),
    signal,
    rate: 4,
    seconds: SECONDS,
    killEveryMs: 5000,
    patienceMs: 300_000,
  });
  console.log(
    `${outcome.created.size} invoices, ${outcome.kills} kills, ${outcome.broken} requests sent again, ${outcome.streams.length} streams`,
  );
  expect(brokenPromises(outcome).slice(0, 20)).toEqual([]);
  expect(outcome.kills).toBeGreaterThan(SECONDS / 30);
});
