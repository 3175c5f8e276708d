import { type Collection, type Db, ObjectId } from 'mongodb';
import { DOCUMENT_FIELDS, type DocumentField } from '../domain/invoice/documents.ts';
import { DOCUMENTS_BUCKET } from './documents.ts';
import { KEPT_COLLECTION } from './kept-invoices.ts';

/** Grace period between storing a file and recording it in its invoice, milliseconds. Far longer than any lease. */
const GRACE_MS = 3_600_000;
/** Chunks read in one round trip. */
const BATCH = 500;

type Referring = { readonly [name in DocumentField]?: { file: string } | null };
const PROJECTION = Object.fromEntries(DOCUMENT_FIELDS.map((name) => [`${name}.file`, 1]));

interface CollectorState {
  _id: string;
  /** Every file up to this id has been checked. */
  filesUpTo?: ObjectId;
}

/**
 * Removes documents that were stored incompletely, or never recorded in their invoice because the process ended or lost
 * its claim. Keeps files whose invoice is not found: only the erasure of a tenant removes invoices, after their files.
 * Checks each file once.
 */
export function createOrphanCollector(db: Db) {
  const files = db.collection<{ _id: ObjectId; filename: string }>(`${DOCUMENTS_BUCKET}.files`);
  const chunks = db.collection<{ files_id: ObjectId }>(`${DOCUMENTS_BUCKET}.chunks`);
  const referring = ['invoices', KEPT_COLLECTION].map((name) => db.collection<{ _id: string } & Referring>(name));
  const states: Collection<CollectorState> = db.collection<CollectorState>('installation');

  /**
   * Returns the next files after `after`. Finds them by their chunks, so that files of interrupted uploads are
   * included.
   */
  async function nextFiles(after: ObjectId | undefined, before: ObjectId): Promise<ObjectId[]> {
    const found = await chunks
      .find({ files_id: { ...(after && { $gt: after }), $lt: before } }, { projection: { _id: 0, files_id: 1 } })
      .sort({ files_id: 1, n: 1 })
      .limit(BATCH)
      .toArray();
    return [...new Map(found.map(({ files_id: id }) => [id.toHexString(), id])).values()];
  }

  async function orphansAmong(ids: readonly ObjectId[]): Promise<ObjectId[]> {
    const known = await files.find({ _id: { $in: [...ids] } }, { projection: { filename: 1 } }).toArray();
    const ownerOf = new Map(known.map(({ _id, filename }) => [_id.toHexString(), filename.split('.', 1)[0] ?? '']));
    const owned = { _id: { $in: [...new Set(ownerOf.values())] } };
    const owners = await Promise.all(referring.map((each) => each.find(owned, { projection: PROJECTION }).toArray()));
    const found = new Map(owners.flat().map((owner) => [owner._id, owner]));
    return ids.filter((id) => {
      const file = id.toHexString();
      const owner = ownerOf.get(file);
      if (owner === undefined) return true;
      const invoice = found.get(owner);
      return invoice !== undefined && DOCUMENT_FIELDS.every((name) => invoice[name]?.file !== file);
    });
  }

  async function remove(id: ObjectId): Promise<void> {
    await files.deleteOne({ _id: id });
    await chunks.deleteMany({ files_id: id });
  }

  return {
    /**
     * Checks the files that were stored since the last call, except those of the last hour, and removes the ones that
     * their invoice does not refer to. Several processes may call it at the same time, and may be interrupted at any
     * point.
     * @returns the number of removed files
     */
    async collect(now: Date): Promise<number> {
      // An ObjectId starts with its time of creation in seconds.
      const before = ObjectId.createFromTime(Math.floor((now.getTime() - GRACE_MS) / 1000));
      let removed = 0;
      let after = (await states.findOne({ _id: 'orphan-documents' }))?.filesUpTo;
      for (;;) {
        const ids = await nextFiles(after, before);
        const last = ids.at(-1);
        if (last === undefined) return removed;
        for (const id of await orphansAmong(ids)) {
          await remove(id);
          removed += 1;
        }
        after = last;
        await states.updateOne({ _id: 'orphan-documents' }, { $set: { filesUpTo: after } }, { upsert: true });
      }
    },
  };
}
