import type { Db } from 'mongodb';
import type { ConditionTellings, Told } from '../domain/conditions/tell-owners.ts';

interface TenantDocument {
  _id: string;
  keys?: readonly { readonly environment: string; readonly revokedAt: Date | null }[];
  erasure?: object;
  /** When the conditions of the tenant are examined next; absent: immediately. */
  ownersLookAt?: Date | null;
  /** Absent before the first mail. */
  ownersTold?: Told;
}

/** Stores in the collection `tenants` which conditions were reported to owners. */
export function createConditionTellings(db: Db): ConditionTellings {
  const tenants = db.collection<TenantDocument>('tenants');
  const projection = { keys: 1, erasure: 1, ownersTold: 1 } as const;
  return {
    async take(now, again, limit) {
      // One range of the index at a time, because not every server uses the index for an `$or` of two.
      const ranges = [{ ownersLookAt: null }, { ownersLookAt: { $lte: now } }];
      const taken: TenantDocument[] = [];
      for (const range of ranges) {
        const left = limit - taken.length;
        if (left <= 0) break;
        const due = await tenants.find(range).project<{ _id: string }>({ _id: 1 }).limit(left).toArray();
        const found = await Promise.all(
          due.map(({ _id }) =>
            tenants.findOneAndUpdate({ _id, ...range }, { $set: { ownersLookAt: again } }, { projection }),
          ),
        );
        taken.push(...found.flatMap((document) => document ?? []));
      }
      return taken
        .filter(({ keys = [], erasure }) => !erasure && keys.some(isLive))
        .map(({ _id: tenantId, ownersTold }) => ({ tenantId, told: ownersTold ?? { at: null, codes: [] } }));
    },
    async keep(tenantId, told) {
      await tenants.updateOne({ _id: tenantId }, { $set: { ownersTold: told } });
    },
  };
}

function isLive({ environment, revokedAt }: NonNullable<TenantDocument['keys']>[number]): boolean {
  return environment === 'live' && revokedAt === null;
}
