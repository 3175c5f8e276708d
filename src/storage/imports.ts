import type { Db, UpdateFilter } from 'mongodb';
import type { Import } from '../domain/imports/import.ts';
import type { ImportClaim, ImportProgress, ImportStore } from '../domain/imports/import-store.ts';
import type { ColumnMapping } from '../domain/imports/reading.ts';
import { createLeases } from './leases.ts';
import { createOrderedInsert } from './ordered-insert.ts';
import { readPage } from './pages.ts';

/** A mapping as pairs, because a header may contain any characters. */
export type StoredMapping = [string, string | null][];

interface ImportDocument extends Omit<Import, 'id' | 'mapping'> {
  _id: string;
  mapping: StoredMapping | null;
  /** When the import's work is due or, with a token, when the lease on it ends; absent if there is no work. */
  work?: { dueAt: Date; token: string | null };
}

const OF_SIZE = { _id: 0, 'file.size': 1 } as const;

/** Number of due imports that are read in order to find one of each tenant. */
const LOOKED_AT = 50;

/** Stores imports in the collection `imports`. Like drafts, a single import is found by its id only. */
export function createImportStore(db: Db): ImportStore {
  const stored = db.collection<ImportDocument>('imports');
  const insert = createOrderedInsert(db, stored, {
    listOf: ({ tenantId, environment }) => `${tenantId} ${environment}`,
  });
  const leases = createLeases(stored, { token: 'work.token', until: (end) => ({ 'work.dueAt': end }) });

  /** Updates the import of a claim. @returns whether the claim is still held */
  async function update(
    { imported, token }: ImportClaim,
    { mapping, ...progress }: ImportProgress,
    further: UpdateFilter<ImportDocument> = {},
  ): Promise<boolean> {
    const $set = { ...progress, ...(mapping !== undefined && { mapping: pairsOf(mapping) }), ...further.$set };
    const change = { ...further, ...(Object.keys($set).length > 0 && { $set }) } as UpdateFilter<ImportDocument>;
    return (await leases.release([{ leases: [{ id: imported.id, token }], update: change }])) === 1;
  }

  return {
    async insert({ id, mapping, ...imported }) {
      const work = { dueAt: imported.createdAt, token: null };
      return importOf(await insert({ _id: id, ...imported, mapping: pairsOf(mapping), work }));
    },
    async find(id) {
      const found = await stored.findOne({ _id: id });
      return found && importOf(found);
    },
    async findMany(ids) {
      return (await stored.find({ _id: { $in: [...ids] } }).toArray()).map(importOf);
    },
    async sizes({ tenantId, environment }, limit) {
      const found = stored.find({ tenantId, environment }).project<{ file: Pick<Import['file'], 'size'> }>(OF_SIZE);
      return (await found.limit(limit).toArray()).map(({ file }) => file.size);
    },
    page({ tenantId, environment, ...query }) {
      return readPage(stored, { tenantId, environment }, query, importOf);
    },
    async change({ id, round }, from, { id: _id, mapping, ...change }, dueAt) {
      const changed = await stored.findOneAndUpdate(
        { _id: id, round, status: { $in: [...from] } },
        {
          $set: {
            ...change,
            ...(mapping !== undefined && { mapping: pairsOf(mapping) }),
            work: { dueAt, token: null },
          },
        },
        { returnDocument: 'after' },
      );
      return changed && importOf(changed);
    },
    async remove(id, statuses) {
      return (await stored.deleteOne({ _id: id, status: { $in: [...statuses] } })).deletedCount === 1;
    },
    async claim(now, leaseMs, busyTenants, limit) {
      const isDue = { 'work.dueAt': { $lte: now } };
      const due = await stored
        .find({ ...isDue, tenantId: { $nin: [...busyTenants] } })
        .project<Pick<ImportDocument, '_id' | 'tenantId'>>({ tenantId: 1 })
        .sort({ 'work.dueAt': 1 })
        .limit(LOOKED_AT)
        .toArray();
      const firsts = new Map(due.toReversed().map(({ _id, tenantId }) => [tenantId, _id]));
      const ids = due.map(({ _id }) => _id).filter((id) => [...firsts.values()].includes(id));
      if (ids.length === 0) return [];
      const claimed = await leases.claimMany(ids.slice(0, limit), isDue, { leaseMs, now });
      return claimed.map((each) => ({ imported: importOf(each), token: each.work?.token ?? '' }));
    },
    async renew({ imported, token }, now, leaseMs) {
      return (await leases.renew([{ id: imported.id, token, leaseMs }], now)) === 1;
    },
    save: (claim, progress) => update(claim, progress),
    async release(claim, progress, dueAt) {
      await update(claim, progress, dueAt ? { $set: { work: { dueAt, token: null } } } : { $unset: { work: '' } });
    },
    async releaseAll(now) {
      await stored.updateMany({ 'work.dueAt': { $gt: now } }, { $set: { 'work.dueAt': now } });
    },
  };
}

function importOf({ _id, mapping, work: _work, ...imported }: ImportDocument): Import {
  return { id: _id, ...imported, mapping: mappingOf(mapping) };
}

export function pairsOf(mapping: ColumnMapping | null): StoredMapping | null {
  return mapping && Object.entries(mapping);
}

export function mappingOf(pairs: StoredMapping | null): ColumnMapping | null {
  return pairs && Object.fromEntries(pairs);
}
