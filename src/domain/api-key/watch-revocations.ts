import type { TenantRepository } from '../tenant/ports.ts';

/** Watches keys for revocation by any process. */
export interface WatchRevocations {
  /**
   * Calls `onRevoked` once, within {@link CHECK_MS} and the time of a query. @returns a function that ends the watch
   */
  follow(keyId: string, onRevoked: () => void): () => void;
  close(): void;
}

/** Interval between checks of the keys of open streams, in milliseconds. */
export const CHECK_MS = 5000;
/** Maximum number of keys in a query. */
const BATCH = 500;

/**
 * A credential is checked at each request. A stream may stay open for hours, so its key is checked again regularly, all
 * keys in one query.
 * @param onError called when the store does not answer; the check is repeated
 */
export function createWatchRevocations(
  tenants: Pick<TenantRepository, 'validKeys'>,
  onError: (error: unknown) => void,
  checkMs: number = CHECK_MS,
): WatchRevocations {
  const followed = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | null = null;

  function schedule(): void {
    timer ??= setTimeout(async () => {
      await check().catch(onError);
      timer = null;
      if (followed.size > 0) schedule();
    }, checkMs).unref();
  }

  async function check(): Promise<void> {
    const keyIds = [...followed.keys()];
    for (let from = 0; from < keyIds.length; from += BATCH) {
      const asked = keyIds.slice(from, from + BATCH);
      const valid = await tenants.validKeys(asked);
      for (const keyId of asked) if (!valid.has(keyId)) notify(keyId);
    }
  }

  function notify(keyId: string): void {
    const listeners = followed.get(keyId);
    followed.delete(keyId);
    for (const onRevoked of listeners ?? []) onRevoked();
  }

  return {
    follow(keyId, onRevoked) {
      const set = followed.get(keyId) ?? new Set();
      // A separate function for each call, so that the same `onRevoked` can be registered twice.
      const once = () => onRevoked();
      followed.set(keyId, set.add(once));
      schedule();
      return () => {
        set.delete(once);
        if (set.size === 0 && followed.get(keyId) === set) followed.delete(keyId);
      };
    },
    close() {
      followed.clear();
      if (timer) clearTimeout(timer);
    },
  };
}
