import { type Collection, type Db, ObjectId } from 'mongodb';
import { DOCUMENTS_BUCKET } from './documents.ts';

/** How long a file may wait to be recorded, milliseconds: far longer than any lease. */
const GRACE_MS = 3_600_000;
/** Chunks looked at in one round trip. */
const BATCH = 500;

interface CollectorState {
  _id: string;
  /** Every file up to this one has been looked at. */
  filesUpTo?: ObjectId;
}

export interface OrphanCollector {
  /**
   * Looks at the files that were stored since the last call, an hour ago or longer, and removes those that their invoice does not refer to.
   * Any number of processes may do it at once, and any may die of it.
   * @returns how many were removed
   */
  collect(now: Date): Promise<number>;
}

/**
 * Removes documents that were stored and never recorded: a process died in between, or lost the invoice to another; or that were stored in
 * part. Files of invoices that are not found are left alone: nothing of the service removes an invoice. Each file is looked at once.
 */
export function createOrphanCollector(db: Db): OrphanCollector {
  const files = db.collection<{ _id: ObjectId; filename: string }>(`${DOCUMENTS_BUCKET}.files`);
  const chunks = db.collection<{ files_id: ObjectId }>(`${DOCUMENTS_BUCKET}.chunks`);
  const invoices = db.collection<{ _id: string; xml?: { file: string } | null; pdf?: { file: string } | null }>(
    'invoices',
  );
  const states: Collection<CollectorState> = db.collection<CollectorState>('installation');

  /** The next files after one, by their chunks: those of a file that was never completed are found too. */
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
    const ownerOf = new Map(known.map(({ _id, filename }) => [_id.toHexString(), filename.replace(/\.\w+$/, '')]));
    const owners = await invoices
      .find({ _id: { $in: [...new Set(ownerOf.values())] } }, { projection: { 'xml.file': 1, 'pdf.file': 1 } })
      .toArray();
    const found = new Map(owners.map((owner) => [owner._id, owner]));
    return ids.filter((id) => {
      const file = id.toHexString();
      const owner = ownerOf.get(file);
      if (owner === undefined) return true;
      const invoice = found.get(owner);
      return invoice !== undefined && invoice.xml?.file !== file && invoice.pdf?.file !== file;
    });
  }

  async function remove(id: ObjectId): Promise<void> {
    await files.deleteOne({ _id: id });
    await chunks.deleteMany({ files_id: id });
  }

  return {
    async collect(now) {
      // An ObjectId begins with the second in which it was made.
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
