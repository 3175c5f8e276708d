import { useEffect, useRef } from 'preact/hooks';

/** Calls `run` repeatedly while the page is visible. @param everyMs pause, milliseconds; null: never */
export function useEvery(everyMs: number | null, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (everyMs === null) return;
    const timer = setInterval(() => {
      if (!document.hidden) latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
