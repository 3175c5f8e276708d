import type { Collection, Db } from 'mongodb';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitKind, RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { isDuplicateKey } from './duplicate-key.ts';

const WINDOW_SECONDS = 60;
/** More than any order of other processes' steps needs. */
const ATTEMPTS = 10;

/** A window of 60 s that began with its first request. */
interface Window {
  /** Whose it is: `secret:key_…`. */
  readonly _id: string;
  /** How many requests it has counted, those that were refused included. */
  readonly points: number;
  /** When it ends, and may be deleted. */
  readonly expire: Date;
}

/** @returns how many requests the present window of `id` has counted with these, and its end in UNIX milliseconds */
type Count = (id: string, requests: number) => Promise<{ readonly counted: number; readonly endsAt: number }>;

/**
 * Limits in memory where one process serves; on the store where several do, and in memory while the store can't be asked.
 * @param limits requests a minute
 * @param shared the database where the counters are kept for all processes; null for this one alone
 */
export function createRateLimiter(limits: Readonly<Record<LimitKind, number>>, shared: Db | null): RateLimiter {
  const inMemory = countInMemory();
  const count = shared ? countInStore(shared.collection<Window>('rate_windows'), inMemory) : inMemory;
  return {
    async consume(kind, id, requests = 1) {
      const { counted, endsAt } = await count(`${kind}:${id}`, requests);
      const limit = limits[kind];
      return { limit, remaining: Math.max(0, limit - counted), resetAt: endsAt, allowed: counted <= limit };
    },
    uncounted(kind) {
      const limit = limits[kind];
      return { limit, remaining: limit, resetAt: Date.now() + WINDOW_SECONDS * 1000, allowed: true };
    },
  };
}

function countInMemory(): Count {
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
  return async (id, requests) => {
    const { consumedPoints, msBeforeNext } = await limiter.consume(id, requests).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal;
      throw refusal;
    });
    return { counted: consumedPoints, endsAt: Date.now() + msBeforeNext };
  };
}

/**
 * Counts in one document for each id. Each step is one atomic update of it, so the count is exact however many processes count at once: a
 * request is added to an open window; one that has ended is begun anew by whoever finds it ended first; one that is not there is inserted
 * once. One round trip, two or three for the first request of a window. rate-limiter-flexible's own way needs a unique index, which it makes
 * while the first requests are counted already, and an upsert that tells its outcome, which not every server does when several run at once.
 */
function countInStore(windows: Collection<Window>, whenAway: Count): Count {
  async function count(id: string, requests: number): ReturnType<Count> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const now = Date.now();
      const open = await windows.findOneAndUpdate(
        { _id: id, expire: { $gt: new Date(now) } },
        { $inc: { points: requests } },
        { returnDocument: 'after' },
      );
      if (open) return { counted: open.points, endsAt: open.expire.getTime() };
      const begun = { points: requests, expire: new Date(now + WINDOW_SECONDS * 1000) };
      if ((await beginAnew(id, now, begun)) || (await insert(id, begun)))
        return { counted: requests, endsAt: begun.expire.getTime() };
      // Another process has begun it: it is open now.
    }
    throw new Error(`the window of ${id} can not be counted in`);
  }

  async function beginAnew(_id: string, now: number, begun: Omit<Window, '_id'>): Promise<boolean> {
    const { matchedCount } = await windows.updateOne({ _id, expire: { $lte: new Date(now) } }, { $set: begun });
    return matchedCount === 1;
  }

  async function insert(_id: string, begun: Omit<Window, '_id'>): Promise<boolean> {
    try {
      await windows.insertOne({ _id, ...begun });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  return (id, requests) => count(id, requests).catch(() => whenAway(id, requests));
}
