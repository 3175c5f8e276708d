import { LRUCache } from 'lru-cache';
import type { TenantRepository } from '../domain/tenant/ports.ts';

/** How long a key that was found is not looked up again, milliseconds: so long another process's revocation may go unnoticed. */
export const KEY_CACHE_MS = 50;
const MOST_KEYS = 1000;

type Found = ReturnType<TenantRepository['findByKeyHash']>;

/**
 * The same repository, which looks up a busy key 20 times a second instead of at each request. What is changed through it holds at once; what
 * another process changes, after {@link KEY_CACHE_MS} (docs/decisions/0019: at most 100 ms).
 */
export function withKeyCache(tenants: TenantRepository): TenantRepository {
  // A look-up counts from its beginning, and stays for those who come while it is under way.
  const cache = new LRUCache<string, Found>({ max: MOST_KEYS, ttl: KEY_CACHE_MS, ttlResolution: 0 });

  /** Whatever was looked up before the change is forgotten before anybody hears that it is made. */
  function changing<Arguments extends unknown[], Result>(change: (...args: Arguments) => Promise<Result>) {
    return (...args: Arguments): Promise<Result> => change(...args).finally(() => cache.clear());
  }

  return {
    ...tenants,
    findByKeyHash(hash) {
      const known = cache.get(hash);
      if (known) return known;
      const looking = tenants.findByKeyHash(hash);
      cache.set(hash, looking);
      const forget = () => {
        if (cache.peek(hash) === looking) cache.delete(hash);
      };
      // Keys that do not exist are not remembered: there are as many as clients care to send.
      looking.then((found) => found ?? forget(), forget);
      return looking;
    },
    updateProfile: changing(tenants.updateProfile),
    changeProfile: changing(tenants.changeProfile),
    revokeKey: changing(tenants.revokeKey),
    revokeOwnKey: changing(tenants.revokeOwnKey),
  };
}
