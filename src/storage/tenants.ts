import type { Collection, Db, Filter } from 'mongodb';
import type { ApiKey } from '../domain/api-key/api-key.ts';
import { type KeyRepository, ReplacedKeyInvalid, TooManyKeys } from '../domain/api-key/ports.ts';
import type { ListedTenant, SellerProfileChange, TenantRepository } from '../domain/tenant/ports.ts';
import type { SellerProfile, Tenant } from '../domain/tenant/tenant.ts';
import { createLogoStore } from './logos.ts';

interface TenantDocument extends Pick<Tenant, 'name' | 'profile' | 'createdAt'> {
  _id: string;
  /** Present only while the tenant is suspended. */
  suspendedAt?: Date;
  /** Present only if the tenant's limit differs from the installation's. */
  requestsPerMinute?: number;
  keys: StoredKey[];
  /** SHA-256 of all logos that the tenant has ever had. */
  logos?: string[];
  /** Present only on an erased tenant, which this repository does not find (`erasure.ts`). */
  erasure?: object;
}

/** A stored key. One that was never used has no last use, because updates keep the latest use by comparison. */
type StoredKey = Omit<ApiKey, 'lastUsedAt'> & { lastUsedAt?: Date; hash: string };

/** Matches tenants that are not erased. */
const PRESENT = { erasure: { $exists: false } } as const;

/** The store of tenants and of their keys, which are in one collection. */
export interface TenantsWithKeys extends TenantRepository, KeyRepository {}

/** Stores tenants in the collection `tenants`, each with its API keys. */
export function createTenantRepository(db: Db): TenantsWithKeys {
  const tenants: Collection<TenantDocument> = db.collection<TenantDocument>('tenants');
  const logos = createLogoStore(db);

  /** Returns the profile as it is stored. Stores the content of a new logo before anything refers to it. */
  async function withStoredLogo({ logo, ...profile }: SellerProfileChange): Promise<Partial<SellerProfile>> {
    if (logo === undefined || logo === null) return { ...profile, ...(logo === null && { logo }) };
    if ('content' in logo) await logos.put(logo);
    const { sha256, contentType, width, height } = logo;
    return { ...profile, logo: { sha256, contentType, width, height } };
  }

  async function findByKey(filter: { 'keys.hash': string } | { 'keys.id': string }) {
    const document = await tenants.findOne(filter, {
      projection: {
        name: 1,
        profile: 1,
        createdAt: 1,
        suspendedAt: 1,
        requestsPerMinute: 1,
        keys: { $elemMatch: keyFilter(filter) },
      },
    });
    const key = document?.keys[0];
    return document && key ? { tenant: tenantOf(document), key: keyOf(key) } : null;
  }

  return {
    async insert({ id, profile, name, createdAt }, keys = []) {
      const stored = await withStoredLogo(profile);
      await tenants.insertOne({
        _id: id,
        name,
        createdAt,
        profile: stored,
        ...(stored.logo && { logos: [stored.logo.sha256] }),
        keys: keys.map(({ key, hash }) => storedKey(key, hash)),
      });
    },
    async find(tenantId) {
      const document = await tenants.findOne({ _id: tenantId, ...PRESENT }, { projection: { keys: 0 } });
      return document && tenantOf(document);
    },
    async list() {
      return tenants.find(PRESENT, { projection: LISTED }).sort({ createdAt: 1, _id: 1 }).map(listed).toArray();
    },
    async page(after, limit) {
      const last = after === null ? null : await tenants.findOne({ _id: after }, { projection: { createdAt: 1 } });
      if (after !== null && last === null) return [];
      // One range of the index at a time, because not every server uses the index for an `$or` of two.
      const ranges: Filter<TenantDocument>[] =
        last === null
          ? [{}]
          : [{ createdAt: last.createdAt, _id: { $lt: last._id } }, { createdAt: { $lt: last.createdAt } }];
      const found: ListedTenant[] = [];
      for (const range of ranges) {
        const search = tenants.find({ ...range, ...PRESENT }, { projection: LISTED }).sort({ createdAt: -1, _id: -1 });
        if (found.length < limit)
          found.push(
            ...(await search
              .limit(limit - found.length)
              .map(listed)
              .toArray()),
          );
      }
      return found;
    },
    async setSuspended(tenantId, at) {
      const { matchedCount } = await tenants.updateOne(
        { _id: tenantId, ...PRESENT, suspendedAt: { $exists: at === null } } as Filter<TenantDocument>,
        at === null ? { $unset: { suspendedAt: '' } } : { $set: { suspendedAt: at } },
      );
      return matchedCount === 1;
    },
    async limitRequests(tenantId, limit) {
      const { matchedCount } = await tenants.updateOne(
        { _id: tenantId, ...PRESENT },
        limit === null ? { $unset: { requestsPerMinute: '' } } : { $set: { requestsPerMinute: limit } },
      );
      return matchedCount === 1;
    },
    async namesOf(tenantIds) {
      const found = tenants
        .find({ _id: { $in: [...tenantIds] } })
        .project<Pick<TenantDocument, '_id' | 'name'>>({ name: 1 });
      return new Map((await found.toArray()).map(({ _id, name }) => [_id, name]));
    },
    async presentAmong(tenantIds) {
      const found = tenants.find({ _id: { $in: [...tenantIds] }, ...PRESENT }).project<{ _id: string }>({ _id: 1 });
      return new Set((await found.toArray()).map(({ _id }) => _id));
    },
    async updateProfile(tenantId, profile) {
      const stored = await withStoredLogo(profile);
      const { matchedCount } = await tenants.updateOne(
        { _id: tenantId, ...PRESENT },
        { $set: { profile: stored }, ...(stored.logo && { $addToSet: { logos: stored.logo.sha256 } }) },
      );
      return matchedCount === 1;
    },
    async changeProfile(tenantId, change, unlessLive) {
      const fields = Object.entries(await withStoredLogo(change));
      const document = await tenants.findOneAndUpdate(
        {
          _id: tenantId,
          ...PRESENT,
          ...(unlessLive && { keys: { $not: { $elemMatch: { environment: 'live', revokedAt: null } } } }),
        },
        { $set: Object.fromEntries(fields.map(([name, value]) => [`profile.${name}`, value])) },
        { returnDocument: 'after', projection: { keys: 0 } },
      );
      return document && tenantOf(document);
    },
    async admitLogo(tenantId, sha256, most) {
      const { matchedCount } = await tenants.updateOne(
        { _id: tenantId, ...PRESENT, $or: [{ logos: sha256 }, { [`logos.${most - 1}`]: { $exists: false } }] },
        { $addToSet: { logos: sha256 } },
      );
      return matchedCount === 1;
    },
    findByKeyHash: (hash) => findByKey({ 'keys.hash': hash }),
    findByKeyId: (keyId) => findByKey({ 'keys.id': keyId }),
    async insertKey(tenantId, key, hash, mostValid, mostRevoked, replaces) {
      const { environment } = key;
      const isValid = { $and: [{ $eq: ['$$this.environment', environment] }, { $eq: ['$$this.revokedAt', null] }] };
      const valid = { $size: { $filter: { input: '$keys', cond: isValid } } };
      const document = await tenants.findOneAndUpdate(
        {
          _id: tenantId,
          ...PRESENT,
          $expr: { $lt: [valid, mostValid] },
          ...(replaces !== undefined && { keys: { $elemMatch: { id: replaces, revokedAt: null } } }),
        },
        { $push: { keys: storedKey(key, hash) } },
        { returnDocument: 'after', projection: { keys: 1 } },
      );
      if (!document) {
        const tenant = await tenants.findOne({ _id: tenantId, ...PRESENT }, { projection: { keys: 1 } });
        if (!tenant) return false;
        if (replaces !== undefined && !tenant.keys.some(({ id, revokedAt }) => id === replaces && revokedAt === null)) {
          throw new ReplacedKeyInvalid(`key ${replaces} is not valid`);
        }
        throw new TooManyKeys(`there are ${mostValid} valid keys`);
      }
      const revoked = document.keys
        .filter((each) => each.environment === environment && each.revokedAt)
        .sort((a, b) => Number(b.revokedAt) - Number(a.revokedAt));
      const forgotten = revoked.slice(mostRevoked).map(({ id }) => id);
      if (forgotten.length > 0) {
        await tenants.updateOne(
          { _id: tenantId },
          { $pull: { keys: { id: { $in: forgotten }, revokedAt: { $ne: null } } } },
        );
      }
      return true;
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
    async renameKey(keyId, name) {
      const document = await tenants.findOneAndUpdate(
        { 'keys.id': keyId },
        { $set: { 'keys.$[key].name': name } },
        { arrayFilters: [{ 'key.id': keyId }], returnDocument: 'after', projection: { keys: 1 } },
      );
      const key = document?.keys.find(({ id }) => id === keyId);
      return key ? keyOf(key) : null;
    },
    async keepKeyUses(uses) {
      if (uses.length === 0) return;
      const updates = uses.map(({ keyId, at }) => ({
        updateOne: {
          filter: { 'keys.id': keyId },
          update: { $max: { 'keys.$[key].lastUsedAt': at } },
          arrayFilters: [{ 'key.id': keyId }],
        },
      }));
      await tenants.bulkWrite(updates, { ordered: false });
    },
    async revokeKey(keyId, at) {
      const { matchedCount } = await tenants.updateOne(
        { 'keys.id': keyId },
        { $set: { 'keys.$[key].revokedAt': at } },
        // Revoking a key again does not change the time of the first revocation.
        { arrayFilters: [{ 'key.id': keyId, 'key.revokedAt': null }] },
      );
      return matchedCount === 1;
    },
    async revokeOwnKey(tenantId, { id, kind, environment }, at, evenIfLast) {
      const other = { id: { $ne: id }, kind: 'secret', environment, revokedAt: null } as const;
      const isSpare = evenIfLast || kind === 'publishable';
      const document = await tenants.findOneAndUpdate(
        {
          _id: tenantId,
          $and: [{ keys: { $elemMatch: { id } } }, ...(isSpare ? [] : [{ keys: { $elemMatch: other } }])],
        },
        { $set: { 'keys.$[key].revokedAt': at } },
        {
          arrayFilters: [{ 'key.id': id, 'key.revokedAt': null }],
          returnDocument: 'after',
          projection: { keys: 1 },
        },
      );
      const key = document?.keys.find((each) => each.id === id);
      return key ? keyOf(key) : null;
    },
    async isErased(tenantId) {
      const filter = { _id: tenantId, erasure: { $exists: true } };
      return (await tenants.findOne(filter, { projection: { _id: 1 } })) !== null;
    },
    async isEmpty() {
      return (await tenants.findOne({}, { projection: { _id: 1 } })) === null;
    },
  };
}

function keyFilter(filter: { 'keys.hash': string } | { 'keys.id': string }) {
  return 'keys.hash' in filter ? { hash: filter['keys.hash'] } : { id: filter['keys.id'] };
}

function tenantOf({ _id, name, profile, createdAt, suspendedAt, requestsPerMinute }: TenantDocument): Tenant {
  return {
    id: _id,
    name,
    profile,
    createdAt,
    suspendedAt: suspendedAt ?? null,
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
  };
}

/** The fields that a {@link ListedTenant} needs. */
const LISTED = { name: 1, createdAt: 1, suspendedAt: 1, 'keys.environment': 1, 'keys.revokedAt': 1 } as const;

function listed({ _id, name, createdAt, suspendedAt, keys }: TenantDocument): ListedTenant {
  const valid = keys.filter(({ revokedAt }) => revokedAt === null);
  const environments = [...new Set(valid.map(({ environment }) => environment))];
  return { id: _id, name, createdAt, suspendedAt: suspendedAt ?? null, environments };
}

function storedKey({ lastUsedAt, ...key }: ApiKey, hash: string): StoredKey {
  return { ...key, ...(lastUsedAt !== null && { lastUsedAt }), hash };
}

function keyOf({ hash: _hash, ...key }: StoredKey): ApiKey {
  return { lastUsedAt: null, ...key };
}
