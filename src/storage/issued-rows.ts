import type { Db } from 'mongodb';
import type { IssuedRows } from '../domain/imports/import-store.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';

interface IssuedRow extends Owner {
  /** `<invoice> <raw>`: a row is noted once of each invoice. */
  _id: string;
  raw: string;
  invoiceId: string;
}

/** Stores the digests of issued rows in the collection `import_rows`. */
export function createIssuedRows(db: Db): IssuedRows {
  const rows = db.collection<IssuedRow>('import_rows');
  return {
    async of({ tenantId, environment }, raws) {
      const found = rows.find({ tenantId, environment, raw: { $in: [...new Set(raws)] } });
      const all = Map.groupBy(await found.toArray(), ({ raw }) => raw);
      return new Map([...all].map(([raw, ofRaw]) => [raw, ofRaw.map(({ invoiceId }) => invoiceId).sort()]));
    },
    async note({ tenantId, environment }, issued) {
      const documents = issued.map(({ raw, invoiceId }) => {
        return { _id: `${invoiceId} ${raw}`, tenantId, environment, raw, invoiceId };
      });
      for (const outcome of await insertEach(rows, documents))
        if ('error' in outcome && !isDuplicateKey(outcome.error)) throw outcome.error;
    },
  };
}
