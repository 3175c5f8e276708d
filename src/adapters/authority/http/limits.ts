import { LRUCache } from 'lru-cache';
import type { Capabilities } from '../../../domain/authority/ports.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/durations.ts';

/**
 * Keeps the calls of this worker within the authority's limits, so that it need not refuse any. The limits are sliding
 * windows; a call counts from its beginning until one window after its end, because the authority received it in
 * between. Callbacks, polls and repeated submissions share them.
 */
export interface Limits {
  /** Sets the number of workers that share the limits but that of one submission. Each takes an equal part, at least 1. */
  setShare(workers: number): void;
  /** A place for a submission, or why there is none. */
  submission(): Place;
  /** A place for a look-up of this submission. */
  lookUp(submissionId: string): Place;
  /** The authority refused a submission for `ms` milliseconds. */
  blockSubmissions(ms: number): void;
  /** The authority refused a look-up of this submission. */
  blockLookUps(submissionId: string, ms: number): void;
}

export type Place =
  | {
      readonly free: true;
      /** To be called at the end of the call. */
      end(): void;
    }
  /** `waitMs`: no place is free earlier. */
  | { readonly free: false; readonly waitMs: number; readonly why: string };

export interface LimitOptions {
  readonly limits: () => Capabilities['limits'];
  /** DGI_CONCURRENCY: of all workers together. */
  readonly concurrency: number;
  /** Milliseconds, never set back. */
  readonly now?: () => number;
}

/** When another submission may have ended: it is not known. */
const BUSY_WAIT_MS = 100;
/** Bounds the memory; a larger limit is kept as this one. */
const MOST_COUNTED = 60_000;
const MOST_COUNTED_PER_SUBMISSION = 240;
/** Submissions whose look-ups are counted: the last ones. The authority itself limits the others. */
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
      // This limit is not divided among the workers: the invoice's own record keeps to it over all workers
      // (look-up-budget.ts), and a worker whose share is used up would put the invoice off by an hour.
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
      // The authority does not tell which of the two limits it was. The limit of all look-ups ends within a minute.
      windowOf(submissionId).block(now() + ms);
      lookUps.block(now() + Math.min(ms, MINUTE_MS));
    },
  };
}

/** The calls of the last `length` milliseconds. */
class SlidingWindow {
  readonly #length: number;
  /** Ends of the calls, oldest first. */
  #ends: number[] = [];
  #running = 0;
  #blockedUntil = Number.NEGATIVE_INFINITY;

  constructor(length: number) {
    this.#length = length;
  }

  /** Time until another call fits under the limit; 0 if it does now. */
  wait(now: number, limit: number): number {
    const gone = this.#ends.findIndex((end) => end + this.#length > now);
    if (gone !== 0) this.#ends.splice(0, gone === -1 ? this.#ends.length : gone);
    const blocked = Math.max(0, this.#blockedUntil - now);
    const excess = this.#ends.length + this.#running - limit;
    if (excess < 0) return blocked;
    // Running calls leave the window one length after their end at the earliest.
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
