/**
 * Runs something while somebody sees the page: browsers allow six connections to a server over HTTP/1.1, for all tabs
 * together, so a page that nobody sees has no stream.
 * @param start called now, if the page is seen, and each time it is seen again; returns what ends it
 * @returns ends it for good
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
