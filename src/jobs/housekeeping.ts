import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_MS = 60_000;
const PAUSE_MS = 600_000;

/**
 * Runs `work` in the background: `firstMs` after the start (default: a minute), then `pauseMs` after the end of each run
 * (default: ten minutes).
 * @param report receives the error of a failed run; the next run takes place regardless
 * @returns a function that stops it and resolves when a run in progress has ended
 */
export function startHousekeeping(
  work: () => Promise<void>,
  report: (error: unknown) => void,
  { firstMs = FIRST_MS, pauseMs = PAUSE_MS } = {},
): () => Promise<void> {
  const end = new AbortController();
  const pause = (ms: number) => sleep(ms, true, { signal: end.signal, ref: false }).catch(() => false);
  const done = (async () => {
    for (let go = await pause(firstMs); go; go = await pause(pauseMs)) await work().catch(report);
  })();
  return () => {
    end.abort();
    return done;
  };
}
