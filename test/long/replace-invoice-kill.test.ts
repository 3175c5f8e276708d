import { expect, test } from 'vitest';
import { startTestMongo } from '../support/mongodb.ts';
import { REPLACEMENT } from '../support/replacement-kills.ts';
import { runKills } from '../support/store-kills.ts';

/** More commands than a replacement has. */
const ENDLESS = 1000;

/** What each write of the request leaves, and the stages of both documents. */
const STATES = [
  '- - - -',
  'share - - -',
  'share link - -',
  'share link pending -',
  'share link pending pending',
  'share link pending signing',
  'share link pending accepted',
  'share link signing accepted',
];

test('kill -9 at the n-th command of a replacement leaves both documents or neither, once each', async ({ signal }) => {
  const mongo = await startTestMongo();
  try {
    const { problems, kills, left, whole } = await runKills(
      {
        mongodbUri: mongo.uri,
        moments: Array.from({ length: ENDLESS }, (_, n) => n).values(),
        services: 3,
        signal,
      },
      REPLACEMENT,
    );
    console.log(
      `${kills} kills left ${[...left].sort().join(', ')}; a whole replacement has ${whole?.length} commands`,
    );
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(50);
    expect([...left]).toEqual(expect.arrayContaining(STATES));
  } finally {
    await mongo.close();
  }
});
