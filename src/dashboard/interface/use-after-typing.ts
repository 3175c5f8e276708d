import { useEffect } from 'preact/hooks';

/**
 * Calls `run` after a pause in typing: once `key` has been the same for `pauseMs`, and again after each change.
 * @param key what is typed, and what else an answer depends on, as a text; null: nothing is called
 * @param pauseMs milliseconds
 * @param run gets a function that tells whether the key is still the same, and the component still there
 */
export function useAfterTyping(key: string | null, pauseMs: number, run: (isCurrent: () => boolean) => unknown): void {
  useEffect(() => {
    if (key === null) return;
    let isCurrent = true;
    const timer = setTimeout(() => void run(() => isCurrent), pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key, pauseMs]);
}
