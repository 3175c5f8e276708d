import type { Collection, Db } from 'mongodb';
import {
  type Acknowledgement,
  DIFFERENCE_KINDS,
  type Difference,
  type DifferenceKind,
  type DifferenceRepository,
  type Finding,
  MOST_OF_A_KIND,
} from '../domain/authority/reconciliation.ts';

interface DifferenceDocument extends Omit<Difference, 'acknowledged'> {
  /** The kind of the difference and the id of its submission. */
  _id: string;
  /** Present until the difference is resolved, even after it is acknowledged. */
  open?: true;
  /** Absent until an operator acknowledges the current facts. */
  acknowledged?: Acknowledgement;
  /** When the difference was resolved. The TTL index deletes the document some time later. */
  resolvedAt?: Date;
}

/** Stores the differences from the live authority's ledger in the collection `authority_differences`. */
export function createDifferenceRepository(db: Db): DifferenceRepository {
  const stored: Collection<DifferenceDocument> = db.collection<DifferenceDocument>('authority_differences');

  const countOf = (kind: DifferenceKind) =>
    stored.countDocuments({ open: true, kind, acknowledged: { $exists: false } });

  /** Returns the new findings that are to be stored: at most `MOST_OF_A_KIND` unacknowledged ones of a kind. */
  async function admit(news: readonly Finding[]): Promise<Finding[]> {
    const admitted: Finding[] = [];
    for (const kind of DIFFERENCE_KINDS) {
      const ofKind = news.filter((finding) => finding.kind === kind);
      if (ofKind.length > 0) admitted.push(...ofKind.slice(0, Math.max(0, MOST_OF_A_KIND - (await countOf(kind)))));
    }
    return admitted;
  }

  return {
    async observe(findings, at) {
      const byId = new Map(findings.map((finding) => [idOf(finding.kind, finding.submissionId), finding]));
      const known = await stored
        .find({ _id: { $in: [...byId.keys()] }, open: true }, { hint: { _id: 1 } })
        .project<DifferenceDocument>({ ours: 1, theirs: 1, invoiceId: 1, acknowledged: 1 })
        .toArray();
      const before = new Map(known.map((each) => [each._id, each]));
      const isNews = (id: string, finding: Finding) => {
        const stored = before.get(id);
        return !stored || (stored.acknowledged !== undefined && !hasSameFacts(stored, finding));
      };
      const news = [...byId].filter(([id, finding]) => isNews(id, finding)).map(([, finding]) => finding);
      const fresh = await admit(news);
      const seen = [
        ...[...byId].filter(([id, finding]) => !isNews(id, finding)).map(([, finding]) => finding),
        ...fresh,
      ];
      if (seen.length > 0) {
        await stored.bulkWrite(
          seen.map((finding) => {
            const _id = idOf(finding.kind, finding.submissionId);
            const stored = before.get(_id);
            // The facts of open differences are compared too, because an operator may be acknowledging the earlier ones
            // at this moment.
            const isOther = !stored || !hasSameFacts(stored, finding);
            return {
              updateOne: {
                filter: { _id },
                update: {
                  $set: { ...finding, lastSeen: at, open: true as const },
                  $setOnInsert: { firstSeen: at },
                  $unset: { resolvedAt: '' as const, ...(isOther && { acknowledged: '' as const }) },
                },
                upsert: true,
              },
            };
          }),
          { ordered: false },
        );
      }
      return { fresh, leftOut: news.length - fresh.length };
    },

    async unresolved(kind, after, limit) {
      const found = await stored
        .find({ open: true, kind, ...(after !== null && { submissionId: { $gt: after } }) })
        .sort({ submissionId: 1 })
        .limit(limit)
        .toArray();
      return found.map(differenceOf);
    },

    async acknowledge(kind, submissionId, { at, reason }) {
      const identity = { _id: idOf(kind, submissionId), open: true as const };
      const acknowledged = await stored.findOneAndUpdate(
        { ...identity, acknowledged: { $exists: false } },
        { $set: { acknowledged: { at, reason } } },
        { returnDocument: 'after', hint: { _id: 1 } },
      );
      if (acknowledged) return { difference: differenceOf(acknowledged), isNew: true };
      const found = await stored.findOne(identity, { hint: { _id: 1 } });
      return found && { difference: differenceOf(found), isNew: false };
    },

    async resolve(kind, submissionIds, at) {
      if (submissionIds.length === 0) return;
      await stored.updateMany(
        { _id: { $in: submissionIds.map((id) => idOf(kind, id)) }, open: true },
        { $set: { resolvedAt: at }, $unset: { open: '', acknowledged: '' } },
      );
    },

    async count() {
      const counts = await Promise.all(DIFFERENCE_KINDS.map(async (kind) => [kind, await countOf(kind)] as const));
      return Object.fromEntries(counts) as Record<DifferenceKind, number>;
    },
  };
}

/** Whether a finding has the same facts as the stored difference, so that an acknowledgement still covers it. */
function hasSameFacts(stored: Finding, { ours, theirs, invoiceId }: Finding): boolean {
  return stored.ours === ours && stored.theirs === theirs && stored.invoiceId === invoiceId;
}

function differenceOf({
  _id,
  open: _open,
  resolvedAt: _at,
  acknowledged,
  ...difference
}: DifferenceDocument): Difference {
  return { ...difference, acknowledged: acknowledged ?? null };
}

function idOf(kind: DifferenceKind, submissionId: string): string {
  return `${kind} ${submissionId}`;
}
