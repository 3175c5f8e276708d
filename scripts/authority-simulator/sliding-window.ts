/** Counts events in the last `span` milliseconds. */
export interface SlidingWindow {
  /**
   * Counts an event at `now`, unless `limit` events are counted.
   * @returns 0, or the time until another one would be counted, milliseconds
   */
  take(now: number): number;
  /** Events in the window that ends at `now`. */
  count(now: number): number;
}

/** Memory is bounded by `limit` events. */
export function createSlidingWindow(limit: number, span: number): SlidingWindow {
  let times: number[] = [];
  let first = 0;

  function prune(now: number): void {
    while (first < times.length && (times[first] ?? 0) <= now - span) first++;
    if (first > 1024 || first === times.length) {
      times = times.slice(first);
      first = 0;
    }
  }

  return {
    take(now) {
      prune(now);
      if (times.length - first >= limit) return Math.max(1, (times[times.length - limit] ?? now) + span - now);
      times.push(now);
      return 0;
    },
    count(now) {
      prune(now);
      return times.length - first;
    },
  };
}
