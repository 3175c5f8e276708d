import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import type { ImportMappings } from '../domain/imports/import-store.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { mappingOf, pairsOf, type StoredMapping } from './imports.ts';

/**
 * How long chosen columns are kept after their last use, seconds. More than a year, for files that come once a year.
 */
export const MAPPINGS_SECONDS = 400 * 86_400;

interface MappingDocument extends Owner {
  /** Digest of the owner and the headers. */
  _id: string;
  columns: StoredMapping;
  usedAt: Date;
}

/** Stores the columns that tenants have chosen in the collection `import_mappings`. */
export function createImportMappings(db: Db): ImportMappings {
  const mappings = db.collection<MappingDocument>('import_mappings');
  return {
    async find(owner, headers) {
      const found = await mappings.findOneAndUpdate(
        { _id: idOf(owner, headers) },
        { $set: { usedAt: new Date() } },
        { returnDocument: 'after' },
      );
      return found && mappingOf(found.columns);
    },
    async keep({ tenantId, environment }, headers, mapping) {
      const columns = pairsOf(mapping) ?? [];
      await mappings.replaceOne(
        { _id: idOf({ tenantId, environment }, headers) },
        { tenantId, environment, columns, usedAt: new Date() },
        { upsert: true },
      );
    },
  };
}

function idOf({ tenantId, environment }: Owner, headers: readonly string[]): string {
  const text = JSON.stringify([tenantId, environment, ...headers.toSorted()]);
  return createHash('sha256').update(text).digest('hex');
}
