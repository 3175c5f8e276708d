import type { PasswordJudge } from '../../domain/person/ports.ts';
import { createThreads } from '../threads.ts';

/** A password for the thread. */
export interface PasswordTask {
  readonly password: string;
  /** Characters of the password that are looked at. */
  readonly judged: number;
  readonly words: readonly string[];
}

/**
 * Characters that are looked at. The time grows with their square: the worst 40 take half a second. A longer password is
 * as hard to guess as its beginning, or harder.
 */
const JUDGED = 40;

/** Words that are looked for, and their length. */
const MAX_WORDS = 40;
const MAX_WORD = 60;

/** The worst password takes 1 to 2 s on a slow machine. A thread that needs longer than this is replaced, milliseconds. */
const JUDGING_MS = 20_000;

/** With its dictionaries the thread needs 50 MiB. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Judges passwords by zxcvbn, on a thread that starts with the first one: they would hold the event loop, and the
 * dictionaries need memory, which is returned when nobody has chosen a password for a while. How many wait is bounded by
 * those who call it: they hash the password, too.
 *
 * A password that was not judged is not taken: the call rejects if the thread dies, cannot be started or needs longer than
 * `limitMs`.
 * @param limitMs milliseconds
 */
export function createPasswordJudge(limitMs = JUDGING_MS): PasswordJudge & { close(): Promise<void> } {
  const threads = createThreads<PasswordTask, boolean>({
    filename: new URL('./password-thread.ts', import.meta.url).href,
    resourceLimits: HEAP_LIMITS,
  });
  return {
    isGuessable: (password, words) =>
      threads.run(
        {
          password: password.slice(0, JUDGED),
          judged: JUDGED,
          words: words.slice(0, MAX_WORDS).map((word) => word.slice(0, MAX_WORD)),
        },
        AbortSignal.timeout(limitMs),
      ),
    close: threads.close,
  };
}
