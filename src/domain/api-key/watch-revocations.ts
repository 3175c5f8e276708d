import type { TenantRepository } from '../tenant/ports.ts';

/** Tells when keys are revoked, in whichever process, while somebody wants to know. */
export interface WatchRevocations {
  /** Calls `onRevoked` once, within {@link CHECK_MS} and the time of a query. @returns ends the watch, also before */
  follow(keyId: string, onRevoked: () => void): () => void;
  close(): void;
}

/** How often the keys of open streams are looked up, milliseconds. */
export const CHECK_MS = 5000;
/** Keys a query. */
const BATCH = 500;

/**
 * Credentials are checked at each request; an answer that goes on for hours is held to the same by asking again, for all its keys at once.
 * @param onError told when the store could not be asked; it is asked again
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
      for (const keyId of asked) if (!valid.has(keyId)) tell(keyId);
    }
  }

  function tell(keyId: string): void {
    const told = followed.get(keyId);
    followed.delete(keyId);
    for (const onRevoked of told ?? []) onRevoked();
  }

  return {
    follow(keyId, onRevoked) {
      const set = followed.get(keyId) ?? new Set();
      // A function of its own, so that the same one may follow twice.
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
