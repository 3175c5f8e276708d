/** Pause between two checks of the clock, milliseconds. */
const LOOK_MS = 1000;
/**
 * A smaller step back is a slow correction, or a stall of the process between its reads of the two clocks,
 * milliseconds.
 */
const LEAST_MS = 2000;
/**
 * Delay of the second call, milliseconds. Until then other processes may still write times of the clock that was ahead.
 */
export const ONCE_MORE_MS = 10_000;

/** The system's clock, and one that never goes back, both in milliseconds. */
export interface Clocks {
  readonly now: () => number;
  readonly monotonic: () => number;
}

/**
 * Watches the system's clock for being set back. A clock that is set forward needs no correction: work is due earlier.
 * @param onSetBack called twice, the second time ten seconds later, with the step in milliseconds. It must not throw
 * @returns a function that stops the watch
 */
export function watchClock(
  onSetBack: (byMs: number) => void,
  clocks: Clocks = { now: () => Date.now(), monotonic: () => performance.now() },
): () => void {
  const offset = () => clocks.now() - clocks.monotonic();
  let last = offset();
  let again: NodeJS.Timeout | null = null;
  const timer = setInterval(() => {
    const byMs = last - offset();
    last -= byMs;
    if (byMs < LEAST_MS) return;
    onSetBack(byMs);
    if (again) clearTimeout(again);
    again = setTimeout(onSetBack, ONCE_MORE_MS, byMs);
    again.unref();
  }, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    if (again) clearTimeout(again);
  };
}
