import { expect, test } from 'vitest';
import { FINAL_INVOICE } from '../support/final-invoice-kills.ts';
import { startTestMongo } from '../support/mongodb.ts';
import { runKills } from '../support/store-kills.ts';

/** More commands than a final invoice has. */
const ENDLESS = 100;

/** What each write of the request leaves, and the stages of the invoice. */
const STATES = ['- - -', '- share -', 'share share -', 'share share pending'];

test('kill -9 at the n-th command of a final invoice leaves it once with its deductions, or the deposits free', async ({
  signal,
}) => {
  const mongo = await startTestMongo();
  try {
    const { problems, kills, left, whole } = await runKills(
      {
        mongodbUri: mongo.uri,
        moments: Array.from({ length: ENDLESS }, (_, n) => n).values(),
        services: 2,
        signal,
      },
      FINAL_INVOICE,
    );
    console.log(`${kills} kills left ${[...left].sort().join(', ')}; a whole one has ${whole?.length} commands`);
    expect(problems).toEqual([]);
    expect(whole).not.toBeNull();
    expect([...left]).toEqual(expect.arrayContaining(STATES));
  } finally {
    await mongo.close();
  }
});
