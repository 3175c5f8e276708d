import type { Collection, Db } from 'mongodb';
import type { KeyRing, KeyRingStore } from '../domain/installation/key-ring.ts';
import { insertNew } from './insert-new.ts';

type RingDocument = KeyRing & { _id: 'keys' };

const ENTRY = { _id: 'keys' } as const;

/** Versions before the ring keep the mark of their master key here. */
const EARLIER = { _id: 'master-key' } as const;
/** Replaces that mark. No master key has this mark, so versions before the ring refuse to start. */
const SEE_RING = 'see the entry keys';

/** Whose secrets are derived from the keys of the data or sealed with them. */
const USERS = ['invoices', 'webhook_endpoints', 'person_codes'] as const;

/** The key ring: one document of the collection `installation`. */
export function createKeyRingStore(db: Db): KeyRingStore {
  const rings: Collection<RingDocument> = db.collection<RingDocument>('installation');
  const marks = marksOf(db);
  return {
    async read() {
      return ringOf(await rings.findOne(ENTRY));
    },
    async keep(ring) {
      if ((await insertNew(rings, [{ ...ENTRY, ...ring }])).size > 0) return ring;
      // Another process may have inserted it just now. This write waits until the majority has that ring.
      const kept = ringOf(await rings.findOneAndUpdate(ENTRY, { $max: { revision: 1 } }, { returnDocument: 'after' }));
      if (!kept) throw new Error('the key ring was removed from the store');
      return kept;
    },
    async replace({ revision, master, keys }) {
      const { matchedCount } = await rings.updateOne(
        { ...ENTRY, revision: revision - 1 },
        { $set: { revision, master, keys } },
      );
      return matchedCount === 1;
    },
    async earlierMark() {
      const hash = (await marks.findOne(EARLIER))?.hash ?? null;
      return hash === SEE_RING ? null : hash;
    },
    async isUsed() {
      const found = await Promise.all(
        USERS.map((name) => db.collection(name).findOne({}, { projection: { _id: 1 }, readConcern: 'local' })),
      );
      return found.some((document) => document !== null);
    },
    async forgetMaster() {
      // Without a ring, an empty one: the next start would look for the master key of the data again.
      const change = { $set: { master: null }, $inc: { revision: 1 }, $setOnInsert: { keys: [] } };
      await rings.updateOne(ENTRY, change, { upsert: true });
      await marks.deleteOne({ ...EARLIER, hash: { $ne: SEE_RING } });
    },
  };
}

/** Has versions before the ring refuse to start: they would derive from the master key. Repeatable. */
export async function refuseEarlierMark(db: Db): Promise<void> {
  await marksOf(db).updateOne(EARLIER, { $set: { hash: SEE_RING } }, { upsert: true });
}

function marksOf(db: Db): Collection<{ _id: 'master-key'; hash: string }> {
  return db.collection('installation');
}

function ringOf(found: RingDocument | null): KeyRing | null {
  return found && { revision: found.revision, master: found.master, keys: found.keys };
}
