import type { Collection, Db } from 'mongodb';
import type { LedgerRow, SubmissionLedger } from '../domain/authority/ports.ts';
import { createGroup, type Outcome, type Through } from '../domain/kit/group.ts';
import { batchedFind } from './batched-find.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';

/** Maximum number of submissions recorded by one command. */
const MAX_ROWS = 64;

interface LedgerDocument extends Omit<LedgerRow, 'submissionId'> {
  _id: string;
}

/**
 * The ledger of the mock authority: stores submissions in `mock_submissions`, and counts 503 answers in
 * `mock_refusals`.
 */
export function createSubmissionLedger(db: Db, background?: Through): SubmissionLedger {
  const submissions: Collection<LedgerDocument> = db.collection<LedgerDocument>('mock_submissions');
  const refusals: Collection<{ _id: string; count: number }> = db.collection('mock_refusals');

  /** Inserts rows with one command. @returns the stored row for each: an earlier one, if it exists */
  async function writeRows(rows: readonly LedgerRow[]): Promise<Outcome<LedgerRow>[]> {
    const outcomes = await insertEach(submissions, rows.map(documentOf));
    const known = rows.filter((_, index) => isKnown(outcomes[index])).map(({ submissionId }) => submissionId);
    const earlier = known.length === 0 ? new Map<string, LedgerRow>() : await earlierRows(known);
    return rows.map((row, index) => {
      const outcome = outcomes[index] as Outcome<null>;
      if ('result' in outcome) return { result: row };
      const result = isKnown(outcome) && earlier.get(row.submissionId);
      return result ? { result } : outcome;
    });
  }

  async function earlierRows(ids: readonly string[]): Promise<ReadonlyMap<string, LedgerRow>> {
    // Local, because a majority may not have a row that another process has just inserted.
    const found = await submissions.find({ _id: { $in: [...ids] } }, { readConcern: 'local' }).toArray();
    return new Map(found.map((document) => [document._id, rowOf(document)]));
  }

  return {
    record: createGroup(writeRows, { maxItems: MAX_ROWS, ...(background && { through: background }) }),
    find: batchedFind(submissions, rowOf),
    async decided(after, until, limit) {
      const behind = after && {
        $or: [{ decisionAt: { $gt: after.decisionAt } }, { _id: { $gt: after.submissionId } }],
      };
      const found = await submissions
        .find(
          { decisionAt: { ...(after && { $gte: after.decisionAt }), $lte: until }, ...behind },
          // Without the hint a server may use the index once for each branch, and then sort.
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

function isKnown(outcome: Outcome<null> | undefined): boolean {
  return outcome !== undefined && 'error' in outcome && isDuplicateKey(outcome.error);
}

function documentOf({ submissionId, ...row }: LedgerRow): LedgerDocument {
  return { _id: submissionId, ...row };
}

function rowOf({ _id, ...row }: LedgerDocument): LedgerRow {
  return { submissionId: _id, ...row };
}
