import { LRUCache } from 'lru-cache';
import { MINUTE_MS } from '../durations.ts';
import { flushEvery } from '../kit/flush-every.ts';
import type { Principal } from '../principal.ts';
import type { Authenticate } from './authenticate.ts';

/** A key was used at least until this minute. */
export interface KeyUse {
  readonly keyId: string;
  readonly at: Date;
}

/** Interval at which new uses are written, and pause until the next use of the same key is written, milliseconds. */
const [FLUSH_MS, AGAIN_MS] = [10_000, 5 * MINUTE_MS];
/** Maximum number of keys whose uses are remembered. The least recently used keys are forgotten. */
const MOST_KEYS = 10_000;
/** Maximum number of uses in one command. */
const BATCH = 500;

/**
 * Remembers when keys were used, and writes it in the background: at most one write for each key in five minutes and
 * process. No request waits for a write. The store keeps the latest use of several processes.
 * @param write stores uses; a failure is reported, and the next use of the key is written again
 */
export function createKeyUses(
  write: (uses: readonly KeyUse[]) => Promise<void>,
  report: (failure: unknown) => void,
  now: () => number = Date.now,
) {
  /** Keys with a use that is not written yet. */
  const unwritten = new Set<string>();
  const uses = new LRUCache<string, { at: number; written: number | null }>({
    max: MOST_KEYS,
    dispose: (_use, keyId) => unwritten.delete(keyId),
  });
  const stop = flushEvery(FLUSH_MS, (isLast) => flush(isLast ? MINUTE_MS : AGAIN_MS), report);

  function note(keyId: string): void {
    const known = uses.get(keyId);
    if (known) known.at = now();
    else uses.set(keyId, { at: now(), written: null });
    unwritten.add(keyId);
  }

  async function flush(againMs: number): Promise<void> {
    const due = [...unwritten].flatMap((keyId) => {
      const use = uses.peek(keyId);
      return use && (use.written === null || use.at - use.written >= againMs) ? [{ keyId, use, at: use.at }] : [];
    });
    for (let first = 0; first < due.length; first += BATCH) {
      const batch = due.slice(first, first + BATCH);
      await write(batch.map(({ keyId, at }) => ({ keyId, at: new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS) })));
      for (const { keyId, use, at } of batch) {
        use.written = at;
        if (use.at === at) unwritten.delete(keyId);
      }
    }
  }

  return {
    /** Remembers that a key was used now. Never waits and never throws. */
    note,
    /** Writes the unwritten uses, for at most `timeoutMs`. */
    stop,
  };
}

/** Returns the authentication that also notes which keys are used. */
export function notingUses(authenticate: Authenticate, note: (keyId: string) => void): Authenticate {
  return async (authorization, arrival): Promise<Principal> => {
    const principal = await authenticate(authorization, arrival);
    if ('keyId' in principal) note(principal.keyId);
    return principal;
  };
}
