import { every } from './every.ts';
import { within } from './within.ts';

/** Flushes once more, and resolves at its end or after `timeoutMs`. Never rejects. */
export type StopFlushing = (timeoutMs: number) => Promise<void>;

/**
 * Writes in the background what collects in memory. Use it where no caller waits for the write, and what is not written
 * when a process is killed may be lost; where callers wait, use a group.
 * @param pauseMs time between the end of a flush and the next one, milliseconds
 * @param flush writes what has collected since the last flush; `isLast` if the process ends
 * @param report receives the error of a failed flush. Never throws
 */
export function flushEvery(
  pauseMs: number,
  flush: (isLast: boolean) => Promise<unknown>,
  report: (error: unknown) => unknown,
): StopFlushing {
  const stop = every(pauseMs, () => flush(false), report);
  return (timeoutMs) =>
    within(
      timeoutMs,
      stop()
        .then(() => flush(true))
        .catch(report),
    );
}
