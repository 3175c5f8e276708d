import { LRUCache } from 'lru-cache';
import { type Answer, errorAnswer, laterAnswer } from './answer.ts';
import type { Clock } from './clock.ts';
import type { Counters } from './counters.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { Configuration } from './options.ts';
import { createSlidingWindow, type SlidingWindow } from './sliding-window.ts';
import type { SubmissionBody } from './submission.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Windows are kept for the submissions looked up last. */
const MAX_WINDOWS = 20_000;

/** Answers look-ups by id and by digest, within the limits of the capabilities. */
export interface LookUps {
  byId(id: string): Promise<Answer>;
  byDigest(digest: string): Promise<Answer>;
}

export function createLookUps(
  { limits, profile }: Configuration,
  clock: Clock,
  ledger: Ledger,
  counters: Counters,
  show: (entry: Entry) => SubmissionBody,
): LookUps {
  const all = createSlidingWindow(limits.lookups_per_minute, MINUTE);
  const windows = new LRUCache<string, SlidingWindow>({ max: MAX_WINDOWS });

  /** Counts a look-up. Returns the refusal when it exceeds a limit. */
  function refused(subject: string): Answer | null {
    const now = clock.steady();
    counters.lookUp(subject, now);
    const own = windows.get(subject) ?? createSlidingWindow(limits.lookups_per_submission_per_hour, HOUR);
    windows.set(subject, own);
    const wait = all.take(now) || own.take(now);
    return wait > 0 ? laterAnswer(429, wait / 1000) : null;
  }

  /** Answers with an entry, unless its receipt is not due: then the answer does not mention it. */
  async function shown(entry: Entry, body: (submission: SubmissionBody) => object): Promise<Answer> {
    await entry.committed;
    const silence = entry.received.silentUntil - clock.steady();
    return silence > 0 ? laterAnswer(503, silence / 1000) : { status: 200, body: { json: body(show(entry)) } };
  }

  return {
    async byId(id) {
      const entry = ledger.byId.get(id);
      const refusal = refused(id);
      if (refusal !== null) return refusal;
      return entry === undefined ? errorAnswer(404, 'unknown_submission') : shown(entry, (submission) => submission);
    },
    async byDigest(digest) {
      if (profile === 'synchronous') return errorAnswer(400, 'lookup_not_offered');
      const entry = ledger.byDigest.get(digest);
      const refusal = refused(entry?.received.id ?? digest);
      if (refusal !== null) return refusal;
      if (entry === undefined) return { status: 200, body: { json: { data: [] } } };
      return shown(entry, (submission) => ({ data: [submission] }));
    },
  };
}
