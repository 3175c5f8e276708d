import type { MongoClient } from 'mongodb';
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitKind, RateLimiter } from '../domain/rate-limiter.ts';

const WINDOW_SECONDS = 60;

/**
 * Limits in memory where one process serves; on the store where several do, and in memory while the store can't be asked.
 * @param limits requests a minute
 * @param shared where the counters are kept for all processes; null for this one alone
 */
export function createRateLimiter(
  limits: Readonly<Record<LimitKind, number>>,
  shared: { client: MongoClient; databaseName: string } | null,
): RateLimiter {
  const limiterOf = (kind: LimitKind) => {
    const options = { keyPrefix: kind, points: limits[kind], duration: WINDOW_SECONDS };
    const memory = new RateLimiterMemory(options);
    if (!shared) return memory;
    return new RateLimiterMongo({
      ...options,
      storeClient: shared.client,
      dbName: shared.databaseName,
      tableName: 'rate_limits',
      insuranceLimiter: memory,
    });
  };
  const limiters = {
    secret: limiterOf('secret'),
    publishable: limiterOf('publishable'),
    address: limiterOf('address'),
  };
  return {
    async consume(kind, id, requests = 1) {
      const state = await limiters[kind].consume(id, requests).then(
        (result) => ({ result, allowed: true }),
        (refusal: unknown) => {
          if (refusal instanceof RateLimiterRes) return { result: refusal, allowed: false };
          throw refusal;
        },
      );
      return {
        limit: limits[kind],
        remaining: state.result.remainingPoints,
        resetAt: Date.now() + state.result.msBeforeNext,
        allowed: state.allowed,
      };
    },
  };
}
