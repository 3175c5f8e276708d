/** The clock is looked at so often, milliseconds. */
const LOOK_MS = 1000;
/** A smaller step back is a slow correction, or the process stalled between reading its two clocks, milliseconds. */
const LEAST_MS = 2000;
/** Other processes may still have written with the later clock: it is made good once more after this time, milliseconds. */
export const ONCE_MORE_MS = 10_000;

/** The system's clock and one that only runs forward, both in milliseconds. */
export interface Clocks {
  readonly now: () => number;
  readonly monotonic: () => number;
}

/**
 * Watches the system's clock for being set back. A clock that is set forward needs nothing: work is due earlier.
 * @param onSetBack called with how far it was set back, milliseconds, and again ten seconds later. It reports its own
 *   errors
 * @returns a function that stops it
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
