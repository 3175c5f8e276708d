import type { Collection, Db } from 'mongodb';
import type { InstallationRepository } from '../domain/installation/first-start.ts';
import { insertNew } from './insert-new.ts';

interface Entry {
  _id: 'operator' | 'invoice-ids' | 'demo-tenant';
  /** Of the operator's password; of `invoice-ids` the secret itself, of `demo-tenant` the tenant's id. */
  hash: string;
}

/** Facts about the installation in the collection `installation`, one document each. */
export function createInstallationRepository(db: Db): InstallationRepository {
  const entries: Collection<Entry> = db.collection('installation');
  /** @returns whether it was inserted; false if the entry exists already */
  async function insertOnce(entry: Entry): Promise<boolean> {
    return (await insertNew(entries, [entry])).has(entry._id);
  }
  /** Keeps the first of what concurrent starts want to store. @returns what is stored; null if it was just removed */
  async function keepFirst(entry: Entry): Promise<string | null> {
    if (await insertOnce(entry)) return entry.hash;
    // Another process may have just written it, so that a majority does not have it yet.
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
