const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * Waits before another attempt: about 0.5 s, then twice as long each time, up to 15 s, or until the browser is online
 * again. Half of the time is random, so that pages that lost the same server do not reconnect at once.
 * @param attempts failed attempts since the last success
 */
export function waitToRetry(attempts: number): Promise<void> {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts, 10));
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, (longest * (1 + Math.random())) / 2);
    addEventListener('online', done);
  });
}
