import type { Collection, Db } from 'mongodb';
import type { LedgerRow, SubmissionLedger } from '../domain/authority/ports.ts';
import { isDuplicateKey } from './duplicate-key.ts';

interface LedgerDocument extends Omit<LedgerRow, 'submissionId'> {
  _id: string;
}

/**
 * The ledger of the mock authority: submissions in `mock_submissions`, the number of 503 answers in `mock_refusals`.
 */
export function createSubmissionLedger(db: Db): SubmissionLedger {
  const submissions: Collection<LedgerDocument> = db.collection<LedgerDocument>('mock_submissions');
  const refusals: Collection<{ _id: string; count: number }> = db.collection('mock_refusals');
  return {
    async record({ submissionId, ...row }) {
      const written = await submissions
        .findOneAndUpdate({ _id: submissionId }, { $setOnInsert: row }, { upsert: true, returnDocument: 'after' })
        .catch((error: unknown) => {
          // With two concurrent upserts, servers may fail the second one instead of returning the existing document.
          if (isDuplicateKey(error)) return null;
          throw error;
        });
      const kept = written ?? (await submissions.findOne({ _id: submissionId }));
      if (!kept) throw new Error(`the submission ${submissionId} was not recorded`);
      return rowOf(kept);
    },
    async find(submissionId) {
      const document = await submissions.findOne({ _id: submissionId });
      return document && rowOf(document);
    },
    async decided(after, until, limit) {
      const behind = after && {
        $or: [{ decisionAt: { $gt: after.decisionAt } }, { _id: { $gt: after.submissionId } }],
      };
      const found = await submissions
        .find(
          { decisionAt: { ...(after && { $gte: after.decisionAt }), $lte: until }, ...behind },
          // Otherwise a server may use the index once for each branch, and sort.
          { hint: 'decisions' },
        )
        .sort({ decisionAt: 1, _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(rowOf);
    },
    async latest(until) {
      const [last] = await submissions
        .find({ decisionAt: { $lte: until } })
        .project<LedgerDocument>({ decisionAt: 1 })
        .sort({ decisionAt: -1, _id: -1 })
        .limit(1)
        .toArray();
      return last ? { decisionAt: last.decisionAt, submissionId: last._id } : null;
    },
    async countRefusal(submissionId) {
      const counted = await refusals.findOneAndUpdate(
        { _id: submissionId },
        { $inc: { count: 1 } },
        { upsert: true, returnDocument: 'after' },
      );
      return counted?.count ?? 1;
    },
  };
}

function rowOf({ _id, ...row }: LedgerDocument): LedgerRow {
  return { submissionId: _id, ...row };
}
