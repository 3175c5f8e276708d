import type { Collection, Db } from 'mongodb';
import type { InstallationRepository } from '../domain/installation/first-start.ts';
import { insertNew } from './insert-new.ts';

interface Entry {
  _id: 'operator' | 'master-key';
  hash: string;
}

/** Facts about the installation in the collection `installation`, one document each. */
export function createInstallationRepository(db: Db): InstallationRepository {
  const entries: Collection<Entry> = db.collection('installation');
  /** @returns whether it was inserted; false if the entry exists already */
  async function insertOnce(entry: Entry): Promise<boolean> {
    return (await insertNew(entries, [entry])).has(entry._id);
  }
  return {
    keepOperatorHash: (hash) => insertOnce({ _id: 'operator', hash }),
    async replaceOperatorHash(hash) {
      await entries.updateOne({ _id: 'operator' }, { $set: { hash } }, { upsert: true });
    },
    async operatorHash() {
      return (await entries.findOne({ _id: 'operator' }))?.hash ?? null;
    },
    async keepMasterKeyMark(mark) {
      if (await insertOnce({ _id: 'master-key', hash: mark })) return mark;
      // Another process may have just written it, so that a majority does not have it yet.
      return (await entries.findOne({ _id: 'master-key' }, { readConcern: 'local' }))?.hash ?? mark;
    },
    async masterKeyMark() {
      return (await entries.findOne({ _id: 'master-key' }))?.hash ?? null;
    },
    async forgetMasterKeyMark() {
      await entries.deleteOne({ _id: 'master-key' });
    },
  };
}
