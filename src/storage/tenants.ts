import type { Collection, Db } from 'mongodb';
import type { ApiKey } from '../domain/api-key/api-key.ts';
import type { SellerProfileChange, TenantRepository } from '../domain/tenant/ports.ts';
import type { SellerProfile, Tenant } from '../domain/tenant/tenant.ts';
import { createLogoStore } from './logos.ts';

interface TenantDocument extends Omit<Tenant, 'id'> {
  _id: string;
  keys: (ApiKey & { hash: string })[];
}

/** Tenants in the collection `tenants`, each with its keys. */
export function createTenantRepository(db: Db): TenantRepository {
  const tenants: Collection<TenantDocument> = db.collection<TenantDocument>('tenants');
  const logos = createLogoStore(db);

  /** The profile as it is kept: a new logo's octets are stored before anything refers to them. */
  async function withStoredLogo({ logo, ...profile }: SellerProfileChange): Promise<Partial<SellerProfile>> {
    if (logo === undefined || logo === null) return { ...profile, ...(logo === null && { logo }) };
    if ('content' in logo) await logos.put(logo);
    const { sha256, contentType, width, height } = logo;
    return { ...profile, logo: { sha256, contentType, width, height } };
  }

  async function findByKey(filter: { 'keys.hash': string } | { 'keys.id': string }) {
    const document = await tenants.findOne(filter, {
      projection: { name: 1, profile: 1, createdAt: 1, keys: { $elemMatch: keyFilter(filter) } },
    });
    const key = document?.keys[0];
    return document && key ? { tenant: tenantOf(document), key: keyOf(key) } : null;
  }

  return {
    async insert({ id, profile, ...tenant }, keys = []) {
      const stored = await withStoredLogo(profile);
      await tenants.insertOne({
        _id: id,
        ...tenant,
        profile: stored,
        keys: keys.map(({ key, hash }) => ({ ...key, hash })),
      });
    },
    async find(tenantId) {
      const document = await tenants.findOne({ _id: tenantId }, { projection: { keys: 0 } });
      return document && tenantOf(document);
    },
    async updateProfile(tenantId, profile) {
      const { matchedCount } = await tenants.updateOne(
        { _id: tenantId },
        { $set: { profile: await withStoredLogo(profile) } },
      );
      return matchedCount === 1;
    },
    findByKeyHash: (hash) => findByKey({ 'keys.hash': hash }),
    findByKeyId: (keyId) => findByKey({ 'keys.id': keyId }),
    async insertKey(tenantId, key, hash) {
      const { matchedCount } = await tenants.updateOne({ _id: tenantId }, { $push: { keys: { ...key, hash } } });
      return matchedCount === 1;
    },
    async keysOf(tenantId) {
      const document = await tenants.findOne({ _id: tenantId }, { projection: { keys: 1 } });
      return (document?.keys ?? []).map(keyOf);
    },
    async validKeys(keyIds) {
      const asked = new Set(keyIds);
      const found = tenants.find({ 'keys.id': { $in: [...keyIds] } });
      const keys = found.project<Pick<TenantDocument, 'keys'>>({ 'keys.id': 1, 'keys.revokedAt': 1 });
      const valid = (await keys.toArray()).flatMap((tenant) => tenant.keys.filter((key) => !key.revokedAt));
      return new Set(valid.map(({ id }) => id).filter((id) => asked.has(id)));
    },
    async revokeKey(keyId, at) {
      const { matchedCount } = await tenants.updateOne(
        { 'keys.id': keyId },
        { $set: { 'keys.$[key].revokedAt': at } },
        // The first revocation is the one that counts.
        { arrayFilters: [{ 'key.id': keyId, 'key.revokedAt': null }] },
      );
      return matchedCount === 1;
    },
    async isEmpty() {
      return (await tenants.findOne({}, { projection: { _id: 1 } })) === null;
    },
  };
}

function keyFilter(filter: { 'keys.hash': string } | { 'keys.id': string }) {
  return 'keys.hash' in filter ? { hash: filter['keys.hash'] } : { id: filter['keys.id'] };
}

function tenantOf({ _id, name, profile, createdAt }: TenantDocument): Tenant {
  return { id: _id, name, profile, createdAt };
}

function keyOf({ hash: _hash, ...key }: ApiKey & { hash: string }): ApiKey {
  return key;
}
