/**
 * Runs something while the page is visible. A hidden page has no stream, because browsers allow six connections to a
 * server over HTTP/1.1, for all tabs together.
 * @param start called now, if the page is visible, and each time it becomes visible again; returns a function that
 * stops it
 * @returns a function that stops it for good
 */
export function whileSeen(start: () => () => void): () => void {
  let stop: (() => void) | null = null;
  function turnedTo(): void {
    if (!document.hidden) stop ??= start();
    else {
      stop?.();
      stop = null;
    }
  }
  document.addEventListener('visibilitychange', turnedTo);
  turnedTo();
  return () => {
    document.removeEventListener('visibilitychange', turnedTo);
    stop?.();
  };
}
