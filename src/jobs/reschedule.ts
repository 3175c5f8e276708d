import { type Clocks, ONCE_MORE_MS, watchClock } from './clock-watch.ts';

export interface RescheduleParts {
  /** Each reschedules one kind of work. @returns the number of changed items */
  readonly kinds: readonly (() => Promise<number>)[];
  /** @param byMs how far the clock was set back, milliseconds; undefined if that was before this process started */
  readonly tell: (changed: number, byMs?: number) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Reschedules work when the clock is set back, and at the start, because the clock may have been set back while no
 * process ran. Otherwise work whose time was computed by a clock that was ahead would wait until that time. If one kind
 * of work fails, the others are rescheduled nevertheless. If one fails at the start, all are tried once more.
 * @returns a function that stops the watch
 */
export function rescheduleAfterSetBack({ kinds, tell, fail }: RescheduleParts, clocks?: Clocks): () => void {
  let again: NodeJS.Timeout | null = null;
  let isStopped = false;

  /** @returns whether it succeeded for all kinds */
  async function reschedule(byMs?: number): Promise<boolean> {
    const results = await Promise.allSettled(kinds.map((each) => each()));
    const changed = results.reduce((sum, each) => sum + (each.status === 'fulfilled' ? each.value : 0), 0);
    if (byMs !== undefined || changed > 0) tell(changed, byMs);
    const failures = results.filter((each) => each.status === 'rejected');
    for (const { reason } of failures) fail(reason);
    return failures.length === 0;
  }

  void reschedule().then((isDone) => {
    if (isDone || isStopped) return;
    again = setTimeout(() => void reschedule(), ONCE_MORE_MS);
    again.unref();
  });
  const stopWatching = watchClock((byMs) => void reschedule(byMs), clocks);
  return () => {
    isStopped = true;
    if (again) clearTimeout(again);
    stopWatching();
  };
}
