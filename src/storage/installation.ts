import type { Collection, Db } from 'mongodb';
import type { InstallationRepository } from '../domain/installation/first-start.ts';
import { insertNew } from './insert-new.ts';

interface Entry {
  _id: 'operator' | 'invoice-ids' | 'demo-tenant';
  /** The hash of the operator's password. For `invoice-ids` the secret itself, for `demo-tenant` the tenant's id. */
  hash: string;
}

/** Facts about the installation in the collection `installation`, one document each. */
export function createInstallationRepository(db: Db): InstallationRepository {
  const entries: Collection<Entry> = db.collection('installation');
  /** @returns whether the entry was inserted; false if it exists already */
  async function insertOnce(entry: Entry): Promise<boolean> {
    return (await insertNew(entries, [entry])).has(entry._id);
  }
  /**
   * Stores an entry unless it exists, so that concurrent starts agree. @returns what is stored; null if it was just
   * removed
   */
  async function keepFirst(entry: Entry): Promise<string | null> {
    if (await insertOnce(entry)) return entry.hash;
    // Local, because a majority may not have an entry yet that another process has just written.
    return (await entries.findOne({ _id: entry._id }, { readConcern: 'local' }))?.hash ?? null;
  }
  return {
    keepOperatorHash: (hash) => insertOnce({ _id: 'operator', hash }),
    async replaceOperatorHash(hash) {
      await entries.updateOne({ _id: 'operator' }, { $set: { hash } }, { upsert: true });
    },
    async operatorHash() {
      return (await entries.findOne({ _id: 'operator' }))?.hash ?? null;
    },
    async rememberDemoTenant(tenantId) {
      await entries.updateOne({ _id: 'demo-tenant' }, { $set: { hash: tenantId } }, { upsert: true });
    },
    async demoTenant() {
      return (await entries.findOne({ _id: 'demo-tenant' }))?.hash ?? null;
    },
    async keepInvoiceIdSecret(secret) {
      const kept = await keepFirst({ _id: 'invoice-ids', hash: secret });
      if (kept === null) throw new Error('the secret of the invoice ids was removed from the store');
      return kept;
    },
  };
}
