import type { Collection, Db } from 'mongodb';
import type { KeyRing, KeyRingStore } from '../domain/installation/key-ring.ts';
import { insertNew } from './insert-new.ts';

type RingDocument = KeyRing & { _id: 'keys' };

const ENTRY = { _id: 'keys' } as const;

/** The key ring: one document of the collection `installation`. */
export function createKeyRingStore(db: Db): KeyRingStore {
  const rings: Collection<RingDocument> = db.collection<RingDocument>('installation');
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
    async forgetMaster() {
      await rings.updateOne(ENTRY, { $set: { master: null }, $inc: { revision: 1 } });
    },
  };
}

function ringOf(found: RingDocument | null): KeyRing | null {
  return found && { revision: found.revision, master: found.master, keys: found.keys };
}
