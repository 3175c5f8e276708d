import type { Db } from 'mongodb';
import type { IssuedRows, RowPlace } from '../domain/imports/import-store.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';

interface IssuedRow extends Owner, RowPlace {
  /** `<tenant> <environment> <raw> <place>`: one invoice has a place. */
  _id: string;
}

/** Stores which invoices are issued of which rows in the collection `import_rows`. */
export function createIssuedRows(db: Db): IssuedRows {
  const rows = db.collection<IssuedRow>('import_rows');
  return {
    async of({ tenantId, environment }, raws) {
      const found = rows.find({ tenantId, environment, raw: { $in: [...new Set(raws)] } });
      const all = (await found.toArray()).toSorted((a, b) => a.place - b.place);
      return Map.groupBy(
        all.map(({ raw, place, invoiceId }) => ({ raw, place, invoiceId })),
        ({ raw }) => raw,
      );
    },
    async claim({ tenantId, environment }, claimed) {
      const documents = claimed.map((row) => ({
        _id: idOf({ tenantId, environment }, row),
        tenantId,
        environment,
        ...row,
      }));
      const taken: IssuedRow[] = [];
      for (const [nth, outcome] of (await insertEach(rows, documents)).entries()) {
        if (!('error' in outcome)) continue;
        if (!isDuplicateKey(outcome.error)) throw outcome.error;
        taken.push(documents[nth] as IssuedRow);
      }
      if (taken.length === 0) return new Map();
      const holders = await rows.find({ _id: { $in: taken.map(({ _id }) => _id) } }).toArray();
      const holderOf = new Map(holders.map(({ _id, invoiceId }) => [_id, invoiceId]));
      return new Map(
        taken.flatMap(({ _id, invoiceId }) => {
          const holder = holderOf.get(_id);
          return holder === undefined || holder === invoiceId ? [] : [[invoiceId, holder]];
        }),
      );
    },
    async release(owner, released) {
      const ids = released.map((row) => idOf(owner, row));
      await rows.deleteMany({ _id: { $in: ids }, invoiceId: { $in: released.map(({ invoiceId }) => invoiceId) } });
    },
  };
}

function idOf({ tenantId, environment }: Owner, { raw, place }: RowPlace): string {
  return `${tenantId} ${environment} ${raw} ${place}`;
}
