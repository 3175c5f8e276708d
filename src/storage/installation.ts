import type { Collection, Db } from 'mongodb';
import type { InstallationRepository } from '../domain/installation/first-start.ts';
import { insertNew } from './insert-new.ts';

interface Matter {
  _id: 'operator' | 'master-key';
  hash: string;
}

/** What is remembered of the installation: collection `installation`, one document a matter. */
export function createInstallationRepository(db: Db): InstallationRepository {
  const matters: Collection<Matter> = db.collection('installation');
  /** @returns whether it was inserted: false where the matter is known already */
  async function insertOnce(matter: Matter): Promise<boolean> {
    return (await insertNew(matters, [matter])).has(matter._id);
  }
  return {
    keepOperatorHash: (hash) => insertOnce({ _id: 'operator', hash }),
    async replaceOperatorHash(hash) {
      await matters.updateOne({ _id: 'operator' }, { $set: { hash } }, { upsert: true });
    },
    async operatorHash() {
      return (await matters.findOne({ _id: 'operator' }))?.hash ?? null;
    },
    async keepMasterKeyMark(mark) {
      if (await insertOnce({ _id: 'master-key', hash: mark })) return mark;
      // Read as it is on the primary: it may be too new to be with the majority.
      return (await matters.findOne({ _id: 'master-key' }, { readConcern: 'local' }))?.hash ?? mark;
    },
    async masterKeyMark() {
      return (await matters.findOne({ _id: 'master-key' }))?.hash ?? null;
    },
    async forgetMasterKeyMark() {
      await matters.deleteOne({ _id: 'master-key' });
    },
  };
}
