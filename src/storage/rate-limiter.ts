import type { Collection, Db } from 'mongodb';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitKind, RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { ATTEMPT_WINDOW_MS, ATTEMPTS } from '../domain/person/limits.ts';
import type { AttemptLimiter } from '../domain/person/ports.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { storeAheadMs, storeClock } from './store-clock.ts';

const WINDOW_SECONDS = 60;
/** Maximum number of attempts to count a request. Concurrent processes never cause as many. */
const TRIES = 10;

/** A window of the rate limit, which starts with its first request. */
interface Window {
  /** The kind of limit and the client: `secret:key_…`. */
  readonly _id: string;
  /** Number of counted requests, including refused ones. */
  readonly points: number;
  /** End of the window, after which the TTL index deletes it. */
  readonly expire: Date;
}

/** Adds requests to the current window of `id`. @returns its new count, and its end in UNIX milliseconds */
type Count = (id: string, requests: number) => Promise<{ readonly counted: number; readonly endsAt: number }>;

/**
 * Counts requests in memory if this is the only process, otherwise in the store. Also counts in memory while the store
 * is unavailable (docs/decisions/0021).
 * @param limits requests per minute
 * @param shared the database with the counters of all processes; null if this is the only process
 */
export function createRateLimiter(limits: Readonly<Record<LimitKind, number>>, shared: Db | null): RateLimiter {
  const count = createCount(shared, WINDOW_SECONDS);
  return {
    async consume(kind, id, requests = 1, limit = limits[kind]) {
      const { counted, endsAt } = await count(`${kind}:${id}`, requests);
      return { limit, remaining: Math.max(0, limit - counted), resetAt: endsAt, allowed: counted <= limit };
    },
    uncounted(kind) {
      const limit = limits[kind];
      return { limit, remaining: limit, resetAt: Date.now() + WINDOW_SECONDS * 1000, allowed: true };
    },
  };
}

/** Limits attempts, counted as {@link createRateLimiter} counts requests. */
export function createAttemptLimiter(shared: Db | null): AttemptLimiter {
  const count = createCount(shared, ATTEMPT_WINDOW_MS / 1000);
  return {
    async attempt(kind, id) {
      const { counted, endsAt } = await count(`attempt-${kind}:${id}`, 1);
      return counted <= ATTEMPTS[kind] ? 0 : Math.max(1, endsAt - Date.now());
    },
  };
}

function createCount(shared: Db | null, seconds: number): Count {
  const inMemory = countInMemory(seconds);
  return shared ? countInStore(shared, seconds, inMemory) : inMemory;
}

function countInMemory(seconds: number): Count {
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: seconds });
  return async (id, requests) => {
    const { consumedPoints, msBeforeNext } = await limiter.consume(id, requests).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal;
      throw refusal;
    });
    return { counted: consumedPoints, endsAt: Date.now() + msBeforeNext };
  };
}

/**
 * Counts in one document for each id. Each step is one atomic update, so the count is exact for any number of
 * concurrent processes: a request is added to an open window; the first process that finds an ended window restarts it;
 * a missing window is inserted once. A request costs one round trip, the first of a window two or three.
 * rate-limiter-flexible's own store needs a unique index, which it creates while it already counts the first requests.
 * It also needs an upsert that returns its outcome, which not every server supports under concurrency.
 */
function countInStore(db: Db, seconds: number, whenAway: Count): Count {
  const windows: Collection<Window> = db.collection('rate_windows');
  const clock = storeClock(db.client);
  /** Converts the end of a window to this machine's clock. */
  const endOf = (expire: Date) => expire.getTime() - storeAheadMs(db.client);

  async function count(id: string, requests: number): ReturnType<Count> {
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      const now = clock().getTime();
      const open = await windows.findOneAndUpdate(
        { _id: id, expire: { $gt: new Date(now), $lte: latest(now) } },
        { $inc: { points: requests } },
        { returnDocument: 'after' },
      );
      if (open) return { counted: open.points, endsAt: endOf(open.expire) };
      const fresh = { points: requests, expire: new Date(now + seconds * 1000) };
      if ((await restart(id, now, fresh)) || (await insert(id, fresh)))
        return { counted: requests, endsAt: endOf(fresh.expire) };
      // Another process has just started the window, so the next attempt finds it open.
    }
    throw new Error(`the rate limit window of ${id} could not be updated`);
  }

  /** The latest plausible end of a window. A later end was written by a clock that has since been set back. */
  const latest = (now: number) => new Date(now + 2 * seconds * 1000);

  async function restart(_id: string, now: number, fresh: Omit<Window, '_id'>): Promise<boolean> {
    const ended = { _id, $or: [{ expire: { $lte: new Date(now) } }, { expire: { $gt: latest(now) } }] };
    const { matchedCount } = await windows.updateOne(ended, { $set: fresh });
    return matchedCount === 1;
  }

  async function insert(_id: string, fresh: Omit<Window, '_id'>): Promise<boolean> {
    try {
      await windows.insertOne({ _id, ...fresh });
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  return (id, requests) => count(id, requests).catch(() => whenAway(id, requests));
}
