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
    async change({ id, version, issuingUntil }, change) {
      const changed = await stored.findOneAndUpdate(
        { _id: id, version, issuingUntil },
        { $set: { ...change, issuingUntil: null } },
        { returnDocument: 'after' },
      );
      return changed && draftOf(changed);
    },
    async remove({ id, version, issuingUntil }) {
      const { deletedCount } = await stored.deleteOne({ _id: id, version, issuingUntil });
      return deletedCount === 1;
    },
    async hold(id, version, until) {
      const { matchedCount } = await stored.updateOne({ _id: id, version }, { $max: { issuingUntil: until } });
      return matchedCount === 1;
    },
    async release(id, version) {
      await stored.updateOne({ _id: id, version }, { $set: { issuingUntil: null } });
    },
    async removeIssued(id, version) {
      await stored.deleteOne({ _id: id, version });
    },
  };
}

function draftOf({ _id, ...draft }: DraftDocument): Draft {
  return { id: _id, ...draft };
}
