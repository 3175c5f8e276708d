import type { Collection, Db } from 'mongodb';
import {
  DIFFERENCE_KINDS,
  type Difference,
  type DifferenceKind,
  type DifferenceRepository,
  type Finding,
  MOST_OF_A_KIND,
} from '../domain/authority/reconciliation.ts';

interface DifferenceDocument extends Difference {
  /** The kind and the submission's id. */
  _id: string;
  /** Present while it is not resolved. */
  open?: true;
  /** The TTL index deletes the document some time after this. */
  resolvedAt?: Date;
}

/** Differences with the live authority's ledger in the collection `authority_differences`. */
export function createDifferenceRepository(db: Db): DifferenceRepository {
  const stored: Collection<DifferenceDocument> = db.collection<DifferenceDocument>('authority_differences');

  const countOf = (kind: DifferenceKind) => stored.countDocuments({ open: true, kind });

  /** Findings that were not open, as far as there is room for more of their kind. */
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
        .find({ _id: { $in: [...byId.keys()] } })
        .project<Pick<DifferenceDocument, '_id' | 'open'>>({ open: 1 })
        .toArray();
      const open = new Set(known.filter((each) => each.open).map(({ _id }) => _id));
      const news = [...byId].filter(([id]) => !open.has(id)).map(([, finding]) => finding);
      const fresh = await admit(news);
      const seen = [...[...byId].filter(([id]) => open.has(id)).map(([, finding]) => finding), ...fresh];
      if (seen.length > 0) {
        await stored.bulkWrite(
          seen.map((finding) => ({
            updateOne: {
              filter: { _id: idOf(finding.kind, finding.submissionId) },
              update: {
                $set: { ...finding, lastSeen: at, open: true as const },
                $setOnInsert: { firstSeen: at },
                $unset: { resolvedAt: '' as const },
              },
              upsert: true,
            },
          })),
          { ordered: false },
        );
      }
      return { fresh, leftOut: news.length - fresh.length };
    },

    async open(kind, after, limit) {
      const found = await stored
        .find({ open: true, kind, ...(after !== null && { submissionId: { $gt: after } }) })
        .sort({ submissionId: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, open: _open, resolvedAt: _at, ...difference }) => difference);
    },

    async resolve(kind, submissionIds, at) {
      if (submissionIds.length === 0) return;
      await stored.updateMany(
        { _id: { $in: submissionIds.map((id) => idOf(kind, id)) }, open: true },
        { $set: { resolvedAt: at }, $unset: { open: '' } },
      );
    },

    async count() {
      const counts = await Promise.all(DIFFERENCE_KINDS.map(async (kind) => [kind, await countOf(kind)] as const));
      return Object.fromEntries(counts) as Record<DifferenceKind, number>;
    },
  };
}

function idOf(kind: DifferenceKind, submissionId: string): string {
  return `${kind} ${submissionId}`;
}
