import { LRUCache } from 'lru-cache';
import type { Capabilities } from '../../../domain/authority/ports.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/durations.ts';

/**
 * Keeps the calls of this worker within the authority's limits, so that it need not refuse any. The limits are sliding
 * windows. A call counts from its beginning until one window after its end, because the authority received it some time
 * in between. Callbacks, polls and repeated submissions share the limits.
 */
export interface Limits {
  /**
   * Sets the number of workers that share the limits. Each gets an equal part, at least 1. The limit per submission is
   * not divided.
   */
  setShare(workers: number): void;
  /** Reserves a place for a submission; if none is free, returns why. */
  submission(): Place;
  /** Reserves a place for a look-up of this submission. */
  lookUp(submissionId: string): Place;
  /** Blocks submissions for `ms` milliseconds, after the authority refused one. */
  blockSubmissions(ms: number): void;
  /** Blocks look-ups of this submission, after the authority refused one. */
  blockLookUps(submissionId: string, ms: number): void;
}

export type Place =
  | {
      readonly free: true;
      /** Gives the place back. To be called at the end of the call. */
      end(): void;
    }
  /** `waitMs`: no place becomes free before this time has passed. */
  | { readonly free: false; readonly waitMs: number; readonly why: string };

export interface LimitOptions {
  readonly limits: () => Capabilities['limits'];
  /** DGI_CONCURRENCY: the limit for all workers together. */
  readonly concurrency: number;
  /** Returns monotonic milliseconds. */
  readonly now?: () => number;
}

/** Pause when the limit of concurrent submissions is reached, milliseconds. It is unknown when one of them will end. */
const BUSY_WAIT_MS = 100;
/** Bounds the memory: a larger limit is treated as this one. */
const MOST_COUNTED = 60_000;
const MOST_COUNTED_PER_SUBMISSION = 240;
/**
 * Number of submissions whose look-ups are counted: the most recent ones. For others, only the authority applies its
 * limit.
 */
const MOST_SUBMISSIONS = 50_000;

export function createLimits({ limits, concurrency, now = () => performance.now() }: LimitOptions): Limits {
  const submissions = new SlidingWindow(MINUTE_MS);
  const lookUps = new SlidingWindow(MINUTE_MS);
  const lookUpsOf = new LRUCache<string, SlidingWindow>({ max: MOST_SUBMISSIONS });
  let workers = 1;
  let concurrent = 0;

  const share = (limit: number, most = MOST_COUNTED) => Math.max(1, Math.floor(Math.min(limit, most) / workers));
  const windowOf = (submissionId: string) => {
    const known = lookUpsOf.get(submissionId);
    if (known) return known;
    const window = new SlidingWindow(HOUR_MS);
    lookUpsOf.set(submissionId, window);
    return window;
  };

  return {
    setShare(count) {
      workers = Math.max(1, count);
    },
    submission() {
      const { submissionsPerMinute, concurrent: allowed } = limits();
      const waitMs = submissions.wait(now(), share(submissionsPerMinute));
      if (waitMs > 0) return { free: false, waitMs, why: 'submissions a minute' };
      if (concurrent >= share(Math.min(allowed, concurrency))) {
        return { free: false, waitMs: BUSY_WAIT_MS, why: 'concurrent submissions' };
      }
      concurrent++;
      submissions.begin();
      return {
        free: true,
        end() {
          concurrent--;
          submissions.end(now());
        },
      };
    },
    lookUp(submissionId) {
      const { lookUpsPerMinute, lookUpsPerSubmissionPerHour } = limits();
      const own = windowOf(submissionId);
      // This limit is not divided among the workers. The invoice's own record counts its look-ups over all workers
      // (look-up-budget.ts), and a worker whose share is used up would delay the invoice by an hour.
      const ownWait = own.wait(now(), Math.min(lookUpsPerSubmissionPerHour, MOST_COUNTED_PER_SUBMISSION));
      if (ownWait > 0) return { free: false, waitMs: ownWait, why: 'look-ups of one submission an hour' };
      const waitMs = lookUps.wait(now(), share(lookUpsPerMinute));
      if (waitMs > 0) return { free: false, waitMs, why: 'look-ups a minute' };
      lookUps.begin();
      own.begin();
      return {
        free: true,
        end() {
          lookUps.end(now());
          own.end(now());
        },
      };
    },
    blockSubmissions(ms) {
      submissions.block(now() + ms);
    },
    blockLookUps(submissionId, ms) {
      // The authority does not say which of the two limits was exceeded. The limit of all look-ups resets within a
      // minute.
      windowOf(submissionId).block(now() + ms);
      lookUps.block(now() + Math.min(ms, MINUTE_MS));
    },
  };
}

/** Counts the calls of the last `length` milliseconds. */
class SlidingWindow {
  readonly #length: number;
  /** When finished calls ended, oldest first. */
  #ends: number[] = [];
  #running = 0;
  #blockedUntil = Number.NEGATIVE_INFINITY;

  constructor(length: number) {
    this.#length = length;
  }

  /** Returns the time until another call fits under the limit; 0 if it fits now. */
  wait(now: number, limit: number): number {
    const gone = this.#ends.findIndex((end) => end + this.#length > now);
    if (gone !== 0) this.#ends.splice(0, gone === -1 ? this.#ends.length : gone);
    const blocked = Math.max(0, this.#blockedUntil - now);
    const excess = this.#ends.length + this.#running - limit;
    if (excess < 0) return blocked;
    // If running calls must leave the window first, that takes at least one length from now.
    const leaves = this.#ends[excess];
    return Math.max(blocked, leaves === undefined ? this.#length : leaves + this.#length - now);
  }

  begin(): void {
    this.#running++;
  }

  end(now: number): void {
    this.#running--;
    this.#ends.push(now);
  }

  block(until: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, until);
  }
}
