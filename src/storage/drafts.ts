import type { Db } from 'mongodb';
import type { Draft, DraftStore } from '../domain/invoice/drafts/draft.ts';
import { createOrderedInsert } from './ordered-insert.ts';
import { readPage } from './pages.ts';

interface DraftDocument extends Omit<Draft, 'id'> {
  _id: string;
}

/**
 * Stores drafts in the collection `drafts`. Single drafts are found by id only: with the tenant in the filter, some
 * servers would scan all drafts of the tenant.
 */
export function createDraftStore(db: Db): DraftStore {
  const stored = db.collection<DraftDocument>('drafts');
  const insert = createOrderedInsert(db, stored, {
    listOf: ({ tenantId, environment }) => `${tenantId} ${environment}`,
  });
  return {
    async insert({ id, ...draft }) {
      return draftOf(await insert({ _id: id, ...draft }));
    },
    async find(id) {
      const found = await stored.findOne({ _id: id });
      return found && draftOf(found);
    },
    async count({ tenantId, environment }, limit) {
      // Not countDocuments: on some servers its aggregation reads every document.
      const { n } = await db.command({ count: stored.collectionName, query: { tenantId, environment }, limit });
      return Number(n);
    },
    page({ tenantId, environment, ...query }) {
      return readPage(stored, { tenantId, environment }, query, draftOf);
    },
    async change(id, version, change) {
      const changed = await stored.findOneAndUpdate(
        { _id: id, version },
        { $set: change },
        { returnDocument: 'after' },
      );
      return changed && draftOf(changed);
    },
    async remove(id, version) {
      const { deletedCount } = await stored.deleteOne({ _id: id, version });
      return deletedCount === 1;
    },
  };
}

function draftOf({ _id, ...draft }: DraftDocument): Draft {
  return { id: _id, ...draft };
}
