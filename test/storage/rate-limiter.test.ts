import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LimitKind, LimitState, RateLimiter } from '../../src/domain/api-key/rate-limiter.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createRateLimiter } from '../../src/storage/rate-limiter.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

const LIMITS: Record<LimitKind, number> = { secret: 30, tenant: 30, publishable: 30, address: 30, common: 30 };
const COLLECTION = 'rate_windows';

let mongo: TestMongo;
/** The connections of two processes to one database. */
let stores: Store[];
beforeAll(async () => {
  mongo = await startTestMongo();
  const name = freshDbName('rate_limiter');
  stores = await Promise.all([0, 1].map(() => connect(mongo.uri, name)));
});
afterAll(async () => {
  await stores[0]?.db.dropDatabase();
  await Promise.all(stores.map((store) => store.close()));
  await mongo.close();
});

const newLimiters = () => stores.map(({ db }) => createRateLimiter(LIMITS, db));

/**
 * Sends all requests concurrently, half to each limiter.
 * @returns `remaining` of the allowed ones, in descending order
 */
async function consume(limiters: readonly RateLimiter[], id: string, times: number): Promise<number[]> {
  const states = await Promise.all(
    Array.from({ length: times }, (_, i) => (limiters[i % limiters.length] as RateLimiter).consume('secret', id)),
  );
  const allowed = states.filter((state: LimitState) => state.allowed);
  return allowed.map(({ remaining }) => remaining).sort((a, b) => b - a);
}

const descending = Array.from({ length: 30 }, (_, i) => 29 - i);

it('is exact across processes from the first request on: counts each request once, and allows none above the limit', async () => {
  for (let round = 0; round < 5; round++) {
    await stores[0]?.db.collection(COLLECTION).drop();
    expect(await consume(newLimiters(), 'first', 40)).toEqual(descending);
  }
});

it('starts a window anew whose end is an hour ahead, because the clock was set back since', async () => {
  const limiters = newLimiters();
  await consume(limiters, 'set-back', 40);
  await stores[0]?.db.collection(COLLECTION).updateMany({}, { $set: { expire: new Date(Date.now() + 3_600_000) } });
  expect(await consume(limiters, 'set-back', 40)).toEqual(descending);
});

it('is exact at the start of each window', async () => {
  const limiters = newLimiters();
  await consume(limiters, 'windows', 7);
  for (let round = 0; round < 10; round++) {
    await stores[0]?.db.collection(COLLECTION).updateMany({}, { $set: { expire: new Date(Date.now() - 1) } });
    expect(await consume(limiters, 'windows', 40)).toEqual(descending);
  }
});
