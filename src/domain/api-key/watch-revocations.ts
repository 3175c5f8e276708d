import { every, type StopRepeating } from '../kit/every.ts';

/** Interval between checks of the credentials of open streams, in milliseconds. */
export const CHECK_MS = 5000;
/** Maximum number of credentials in a query. */
const BATCH = 500;

/**
 * Watches keys, people's sessions and the invoices of client_secrets for revocation or erasure by any process. Requests
 * check their credential themselves. A stream may stay open for hours, so its credential is checked regularly, all of a
 * kind in one query.
 * @param stillValid returns those of the given credentials that are valid
 * @param onError called when the store does not answer; the check is repeated
 */
export function createWatchRevocations(
  stillValid: (credentials: readonly string[]) => Promise<ReadonlySet<string>>,
  onError: (error: unknown) => void,
  checkMs: number = CHECK_MS,
) {
  const followed = new Map<string, Set<() => void>>();
  let stop: StopRepeating | null = null;

  async function check(): Promise<void> {
    const credentials = [...followed.keys()];
    if (credentials.length === 0) stopChecking();
    for (let from = 0; from < credentials.length; from += BATCH) {
      const asked = credentials.slice(from, from + BATCH);
      const valid = await stillValid(asked);
      for (const credential of asked) if (!valid.has(credential)) notify(credential);
    }
  }

  function stopChecking(): void {
    void stop?.();
    stop = null;
  }

  function notify(credential: string): void {
    const listeners = followed.get(credential);
    followed.delete(credential);
    for (const onRevoked of listeners ?? []) onRevoked();
  }

  return {
    /**
     * Calls `onRevoked` once, within {@link CHECK_MS} and the time of a query after the revocation.
     * @returns a function that ends the watch
     */
    follow(credential: string, onRevoked: () => void): () => void {
      const set = followed.get(credential) ?? new Set();
      // A separate function for each call, so that the same `onRevoked` can be registered twice.
      const once = () => onRevoked();
      followed.set(credential, set.add(once));
      stop ??= every(checkMs, check, onError);
      return () => {
        set.delete(once);
        if (set.size === 0 && followed.get(credential) === set) followed.delete(credential);
      };
    },
    close(): void {
      followed.clear();
      stopChecking();
    },
  };
}
