import type { Db } from 'mongodb';
import type { ExportedRecords } from '../domain/tenant-data/ports.ts';
import { EXPORTED_RECORDS } from './collection-rules.ts';

/** Reads the collections whose rule has `records: 'exported'`. */
export function createExportedRecords(db: Db): ExportedRecords {
  return {
    names: EXPORTED_RECORDS,
    async *read(name, { tenantId, environment }) {
      const found = db.collection<{ _id: string }>(name).find({ tenantId, environment });
      for await (const { _id, ...record } of found) yield { id: _id, ...record };
    },
  };
}
