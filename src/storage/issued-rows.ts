import type { Db } from 'mongodb';
import type { IssuedRows, RowPlace } from '../domain/imports/import-store.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';

interface IssuedRow extends Owner, RowPlace {
  /** `<tenant> <environment> <raw> <place>`, so that each place belongs to one invoice. */
  _id: string;
}

/** Maximum number of similar rows that are read for a batch of invoices. */
const MOST_ALIKE = 500;

/** Stores in the collection `import_rows` the rows for which each invoice is issued. */
export function createIssuedRows(db: Db): IssuedRows {
  const rows = db.collection<IssuedRow>('import_rows');
  return {
    async of({ tenantId, environment }, raws) {
      const found = rows.find({ tenantId, environment, raw: { $in: [...new Set(raws)] } });
      const all = (await found.toArray()).toSorted((a, b) => a.place - b.place);
      return Map.groupBy(all.map(rowOf), ({ raw }) => raw);
    },
    async alike({ tenantId, environment }, lines) {
      const found = rows.find({ tenantId, environment, 'sale.lines': { $in: [...lines] } });
      return (await found.limit(MOST_ALIKE).toArray()).map(rowOf);
    },
    async claim({ tenantId, environment }, claimed) {
      const documents = claimed.map((row) => ({
        _id: idOf({ tenantId, environment }, row),
        tenantId,
        environment,
        ...row,
      }));
      const outcomes = await insertEach(rows, documents);
      for (const outcome of outcomes) if ('error' in outcome && !isDuplicateKey(outcome.error)) throw outcome.error;
      const taken = documents.filter((_, nth) => 'error' in (outcomes[nth] ?? {}));
      if (taken.length === 0) return documents.map(() => null);
      const found = await rows.find({ _id: { $in: taken.map(({ _id }) => _id) } }).toArray();
      const holders = new Map(found.map((each) => [each._id, each]));
      return documents.map(({ _id, invoiceId }, nth) => {
        const holder = 'error' in (outcomes[nth] ?? {}) ? holders.get(_id) : undefined;
        return holder && holder.invoiceId !== invoiceId ? rowOf(holder) : null;
      });
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

function rowOf({ raw, place, key, invoiceId, sale }: IssuedRow): RowPlace {
  return { raw, place, key, invoiceId, sale };
}
