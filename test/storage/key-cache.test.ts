import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { ApiKey } from '../../src/domain/api-key/api-key.ts';
import { KEY_CACHE_MS, withKeyCache } from '../../src/storage/key-cache.ts';
import type { TenantsWithKeys } from '../../src/storage/tenants.ts';

const tenant = { id: 'ten_1', name: 'Atlas', profile: {}, createdAt: new Date() };
const key: ApiKey = {
  id: 'key_1',
  kind: 'secret',
  environment: 'test',
  lastFour: 'abcd',
  createdAt: new Date(),
  revokedAt: null,
} as ApiKey;

/** A store with one key, behind the cache; each look-up takes `delay` milliseconds. */
function storeOfOneKey(delay = 0) {
  const now = { key, fails: false };
  const findByKeyHash = vi.fn(async (hash: string) => {
    // The state at the start of the look-up.
    const { key: found, fails } = { ...now };
    await sleep(delay);
    if (fails) throw new Error('away');
    return hash === 'known' ? { tenant, key: found } : null;
  });
  const revoke = async () => {
    now.key = { ...key, revokedAt: new Date() };
    await sleep(delay);
    return true;
  };
  const tenants = { findByKeyHash, revokeKey: revoke } as unknown as TenantsWithKeys;
  return { now, findByKeyHash, cached: withKeyCache(tenants) };
}

it('looks up a busy key once', async () => {
  const { cached, findByKeyHash } = storeOfOneKey(5);
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
  const found = await Promise.all(Array.from({ length: 100 }, () => cached.findByKeyHash('known')));
  expect(new Set(found.map((each) => each?.key.id))).toEqual(new Set(['key_1']));
  expect(findByKeyHash).toHaveBeenCalledTimes(1);
  clock.mockReturnValue(1000 + KEY_CACHE_MS);
  await cached.findByKeyHash('known');
  expect(findByKeyHash).toHaveBeenCalledTimes(1);
  clock.mockReturnValue(1001 + KEY_CACHE_MS);
  await cached.findByKeyHash('known');
  expect(findByKeyHash).toHaveBeenCalledTimes(2);
  clock.mockRestore();
});

it('notices a revocation by another process after the documented time at the latest', async () => {
  expect(KEY_CACHE_MS).toBeLessThanOrEqual(100);
  const { cached, now } = storeOfOneKey();
  expect((await cached.findByKeyHash('known'))?.key.revokedAt).toBeNull();
  now.key = { ...key, revokedAt: new Date() };
  await sleep(KEY_CACHE_MS + 5);
  expect((await cached.findByKeyHash('known'))?.key.revokedAt).not.toBeNull();
});

it('applies a revocation by this process once it is answered, also to look-ups in progress', async () => {
  for (let pause = 0; pause < 12; pause += 2) {
    const { cached } = storeOfOneKey(5);
    void cached.findByKeyHash('known');
    await sleep(pause);
    const revoked = cached.revokeKey('key_1', new Date());
    void cached.findByKeyHash('known');
    await revoked;
    expect((await cached.findByKeyHash('known'))?.key.revokedAt).not.toBeNull();
  }
});

it('caches neither unknown keys nor failures', async () => {
  const { cached, findByKeyHash, now } = storeOfOneKey();
  expect([await cached.findByKeyHash('other'), await cached.findByKeyHash('other')]).toEqual([null, null]);
  expect(findByKeyHash).toHaveBeenCalledTimes(2);
  now.fails = true;
  await expect(cached.findByKeyHash('known')).rejects.toThrow('away');
  now.fails = false;
  expect(await cached.findByKeyHash('known')).not.toBeNull();
});
