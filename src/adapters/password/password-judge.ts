import type { PasswordJudge } from '../../domain/person/ports.ts';
import { createThreads } from '../threads.ts';

/** The task of the thread: a password to judge. */
export interface PasswordTask {
  readonly password: string;
  /** Number of characters of the password that are judged. */
  readonly judged: number;
  readonly words: readonly string[];
}

/**
 * Maximum number of characters that are judged. The time grows with the square of the number: the worst 40 take half a
 * second. A longer password is at least as hard to guess as its beginning.
 */
const JUDGED = 40;

/** Maximum number of words that are searched for in the password, and their maximum length. */
const MAX_WORDS = 40;
const MAX_WORD = 60;

/**
 * Time limit for one password, milliseconds: a thread that takes longer is replaced. The worst password takes 1 to 2 s
 * on a slow machine.
 */
const JUDGING_MS = 20_000;

/** With its dictionaries, the thread needs 50 MiB. */
const HEAP_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Creates a judge of passwords that uses zxcvbn on a thread, which starts with the first password. On the main thread
 * zxcvbn would block the event loop. Its dictionaries need memory, which is freed when nobody has chosen a password for
 * a while. The callers bound how many passwords wait: they hash them, too.
 *
 * A password that was not judged must not be accepted: the call rejects if the thread dies, cannot be started or takes
 * longer than `limitMs`.
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
