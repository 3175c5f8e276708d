import { type Collection, type Db, MongoServerError } from 'mongodb';
import type { InstallationRepository } from '../domain/installation/first-start.ts';

/** What is remembered of the installation: collection `installation`, one document a matter. */
export function createInstallationRepository(db: Db): InstallationRepository {
  const matters: Collection<{ _id: string; hash: string }> = db.collection('installation');
  return {
    async keepOperatorHash(hash) {
      try {
        await matters.insertOne({ _id: 'operator', hash });
        return true;
      } catch (error) {
        if (error instanceof MongoServerError && error.code === 11000) return false;
        throw error;
      }
    },
    async replaceOperatorHash(hash) {
      await matters.updateOne({ _id: 'operator' }, { $set: { hash } }, { upsert: true });
    },
    async operatorHash() {
      return (await matters.findOne({ _id: 'operator' }))?.hash ?? null;
    },
  };
}
