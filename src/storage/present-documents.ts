import type { Db } from 'mongodb';

/** Returns the ids that exist in a collection. */
export async function idsOf(db: Db, collection: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const found = db.collection<{ _id: string }>(collection).find({ _id: { $in: [...ids] } }, { projection: { _id: 1 } });
  return new Set((await found.toArray()).map(({ _id }) => _id));
}

/** Returns the ids of the tenants that are not erased. */
export async function presentTenants(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const tenants = db.collection<{ _id: string; erasure?: object }>('tenants');
  const found = await tenants.find({ _id: { $in: [...ids] } }, { projection: { erasure: 1 } }).toArray();
  return new Set(found.filter(({ erasure }) => !erasure).map(({ _id }) => _id));
}
