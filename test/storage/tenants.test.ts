import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiKey, hashToken } from '../../src/domain/api-key/api-key.ts';
import { ReplacedKeyInvalid, TooManyKeys } from '../../src/domain/api-key/ports.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Store } from '../../src/storage/connect.ts';
import { createTenantRepository, type TenantsWithKeys } from '../../src/storage/tenants.ts';
import { openTestStore } from '../support/store.ts';

let store: Store;
let tenants: TenantsWithKeys;

beforeAll(async () => {
  store = await openTestStore('tenants');
  tenants = createTenantRepository(store.db);
});
afterAll(() => store.close());

async function newTenant(): Promise<string> {
  const id = newId('ten');
  await tenants.insert({ id, name: 'T', profile: { legalName: 'Atlas', cnss: '1' }, createdAt: new Date() });
  return id;
}

function newKey(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: newId('key'),
    kind: 'secret',
    environment: 'test',
    lastFour: '0000',
    createdAt: new Date(),
    name: null,
    revokedAt: null,
    lastUsedAt: null,
    ...changes,
  };
}

const insert = (tenantId: string, key: ApiKey, mostValid = 50, mostRevoked = 50) =>
  tenants.insertKey(tenantId, key, hashToken(key.id), mostValid, mostRevoked);

describe('keys', () => {
  it('are limited in each environment, also under concurrency; revoked ones do not count', async () => {
    const id = await newTenant();
    const keys = Array.from({ length: 12 }, () => newKey());
    const results = await Promise.allSettled(keys.map((key) => insert(id, key, 5)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(TooManyKeys);
    const [first] = await tenants.keysOf(id);
    expect(await insert(id, newKey({ environment: 'live' }), 5)).toBe(true);
    await expect(insert(id, newKey(), 5)).rejects.toThrow(TooManyKeys);
    await tenants.revokeKey(first?.id ?? '', new Date());
    expect(await insert(id, newKey(), 5)).toBe(true);
    expect(await insert('ten_nobody', newKey())).toBe(false);
  });

  it('have a name and the latest use that any process wrote, which survive changes of other keys', async () => {
    const id = await newTenant();
    const [key, other] = [newKey({ name: 'Boutique' }), newKey()];
    await insert(id, key);
    await insert(id, other);
    const at = (minute: number) => new Date(Date.UTC(2026, 10, 30, 8, minute));
    await tenants.keepKeyUses([{ keyId: key.id, at: at(5) }]);
    await tenants.keepKeyUses([
      { keyId: key.id, at: at(3) },
      { keyId: newId('key'), at: at(9) },
    ]);
    expect(await tenants.renameKey(other.id, 'Caisse')).toMatchObject({
      id: other.id,
      name: 'Caisse',
      lastUsedAt: null,
    });
    expect(await tenants.renameKey(newId('key'), 'Caisse')).toBeNull();
    expect(await tenants.keysOf(id)).toEqual([
      { ...key, lastUsedAt: at(5) },
      { ...other, name: 'Caisse' },
    ]);
    expect((await tenants.findByKeyId(key.id))?.key).toEqual({ ...key, lastUsedAt: at(5) });
    expect(await tenants.renameKey(key.id, null)).toMatchObject({ name: null, lastUsedAt: at(5) });
    await tenants.revokeKey(key.id, at(7));
    expect((await tenants.keysOf(id))[0]).toEqual({ ...key, name: null, lastUsedAt: at(5), revokedAt: at(7) });
  });

  it('only replace a key that is still valid', async () => {
    const [id, other] = [await newTenant(), await newTenant()];
    const [old, another] = [newKey(), newKey()];
    await insert(id, old);
    await insert(other, another);
    const replace = (keyId: string, mostValid = 50) =>
      tenants.insertKey(id, newKey(), hashToken(newId('key')), mostValid, 50, keyId);
    expect(await replace(old.id)).toBe(true);
    await expect(replace(old.id, 2)).rejects.toThrow(TooManyKeys);
    await tenants.revokeKey(old.id, new Date());
    for (const keyId of [old.id, another.id, 'key_x']) {
      await expect(replace(keyId)).rejects.toThrow(ReplacedKeyInvalid);
    }
    expect(await tenants.keysOf(id)).toHaveLength(2);
  });

  it('that were revoked are removed above a limit, oldest first; valid ones and the other environment are not affected', async () => {
    const id = await newTenant();
    const live = newKey({ environment: 'live', revokedAt: new Date(0) });
    await insert(id, live);
    const valid = newKey();
    await insert(id, valid);
    const revoked: string[] = [];
    for (let i = 1; i <= 6; i++) {
      const key = newKey();
      await insert(id, key, 50, 3);
      await tenants.revokeKey(key.id, new Date(i * 1000));
      revoked.push(key.id);
    }
    const last = newKey();
    await insert(id, last, 50, 3);
    const kept = (await tenants.keysOf(id)).map((key) => key.id);
    expect(kept).toEqual([live.id, valid.id, ...revoked.slice(-3), last.id]);
  });

  it('include at least one valid secret key per environment: of two concurrent revocations one is refused', async () => {
    const id = await newTenant();
    const [a, b, publishable, live] = [
      newKey(),
      newKey(),
      newKey({ kind: 'publishable' }),
      newKey({ environment: 'live' }),
    ];
    for (const key of [a, b, publishable, live]) await insert(id, key);
    const at = new Date();
    const results = await Promise.all([a, b].map((key) => tenants.revokeOwnKey(id, key, at, false)));
    expect(results.filter(Boolean)).toMatchObject([{ revokedAt: at, kind: 'secret' }]);
    expect(results.filter(Boolean)[0]).not.toHaveProperty('hash');
    expect(await tenants.revokeOwnKey(id, live, at, false)).toBeNull();
    expect(await tenants.revokeOwnKey(id, publishable, at, false)).toMatchObject({ id: publishable.id, revokedAt: at });
    const left = (await tenants.keysOf(id)).find(({ environment, revokedAt }) => environment === 'test' && !revokedAt);
    expect(await tenants.revokeOwnKey(id, left ?? a, at, true)).toMatchObject({ revokedAt: at });
    expect(await tenants.revokeOwnKey(await newTenant(), live, at, true)).toBeNull();
  });
});

describe('a profile', () => {
  it('changes field by field; with a test key only while no live key is valid', async () => {
    const id = await newTenant();
    const live = newKey({ environment: 'live' });
    expect(await tenants.changeProfile(id, { cnss: '2', logo: null }, true)).toMatchObject({
      id,
      profile: { legalName: 'Atlas', cnss: '2', logo: null },
    });
    await insert(id, live);
    await insert(id, newKey());
    expect(await tenants.changeProfile(id, { cnss: '3' }, true)).toBeNull();
    expect((await tenants.changeProfile(id, { cnss: '4' }, false))?.profile.cnss).toBe('4');
    await tenants.revokeKey(live.id, new Date());
    expect((await tenants.changeProfile(id, { cnss: '5' }, true))?.profile).toEqual({
      legalName: 'Atlas',
      cnss: '5',
      logo: null,
    });
    expect(await tenants.changeProfile('ten_nobody', { cnss: '1' }, false)).toBeNull();
  });

  it('allows a limited number of different logos, and again those that it had before', async () => {
    const id = await newTenant();
    const admitted = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((sha256) => tenants.admitLogo(id, sha256, 3)));
    expect(admitted.filter(Boolean)).toHaveLength(3);
    const had = ['a', 'b', 'c', 'd', 'e'].filter((_, i) => admitted[i]);
    expect(await Promise.all(had.map((sha256) => tenants.admitLogo(id, sha256, 3)))).toEqual([true, true, true]);
    expect(await tenants.admitLogo('ten_nobody', 'a', 3)).toBe(false);
  });
});
