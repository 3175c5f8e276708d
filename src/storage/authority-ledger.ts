import { Binary, type Collection, type Db } from 'mongodb';
import type { LedgerEntry } from '../domain/authority/ports.ts';
import type { LedgerCopy } from '../domain/authority/reconciliation.ts';
import { insertNew } from './insert-new.ts';

interface EntryDocument {
  /** The submission's id. */
  _id: string;
  /** 32 bytes: the digest itself, not its hexadecimal form. */
  sha256: Binary;
  decidedAt: Date;
  /** The identifier of an accepted submission; null if it was rejected. */
  dgiId: string | null;
}

/**
 * Our copy of the live authority's ledger in the collection `authority_ledger`, one small document for each submission.
 * The problems of a rejection are not kept: the reconciliation does not compare them.
 */
export function createLedgerCopy(db: Db): LedgerCopy {
  const entries: Collection<EntryDocument> = db.collection<EntryDocument>('authority_ledger');

  async function read(ids: readonly string[]): Promise<EntryDocument[]> {
    return entries.find({ _id: { $in: [...ids] } }, { promoteBuffers: false }).toArray();
  }

  return {
    async keep(given) {
      const documents = given.map(documentOf);
      const inserted = await insertNew(entries, documents);
      const others = new Map(documents.filter(({ _id }) => !inserted.has(_id)).map((each) => [each._id, each]));
      if (others.size === 0) return 0;
      const changed = (await read([...others.keys()])).flatMap((stored) => {
        const next = others.get(stored._id);
        return next && !isEqual(stored, next) ? [next] : [];
      });
      if (changed.length > 0) {
        await entries.bulkWrite(
          changed.map(({ _id, ...replacement }) => ({ replaceOne: { filter: { _id }, replacement } })),
          { ordered: false },
        );
      }
      return changed.length;
    },
    find: async (ids) => (await read(ids)).map(entryOf),
  };
}

function documentOf({ submissionId, sha256, decision }: LedgerEntry): EntryDocument {
  return {
    _id: submissionId,
    sha256: new Binary(Buffer.from(sha256, 'hex')),
    decidedAt: decision.decidedAt,
    dgiId: decision.outcome === 'accepted' ? decision.dgiId : null,
  };
}

function entryOf({ _id, sha256, decidedAt, dgiId }: EntryDocument): LedgerEntry {
  return {
    submissionId: _id,
    sha256: sha256.toString('hex'),
    decision:
      dgiId === null ? { outcome: 'rejected', problems: [], decidedAt } : { outcome: 'accepted', dgiId, decidedAt },
  };
}

function isEqual(a: EntryDocument, b: EntryDocument): boolean {
  return (
    a.sha256.toString('hex') === b.sha256.toString('hex') &&
    a.dgiId === b.dgiId &&
    a.decidedAt.getTime() === b.decidedAt.getTime()
  );
}
