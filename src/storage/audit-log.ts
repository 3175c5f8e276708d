import type { Db } from 'mongodb';
import { AUDIT_DAYS, type AuditLog, type RecordedEntry } from '../domain/audit-entry.ts';
import { createOrderedInsert } from './ordered-insert.ts';
import { readPage } from './pages.ts';

export const AUDIT_SECONDS = AUDIT_DAYS * 86_400;

interface EntryDocument extends Omit<RecordedEntry, 'id'> {
  _id: string;
}

/** The audit log of all tenants in the collection `audit_log`. */
export function createAuditLog(db: Db): AuditLog {
  const stored = db.collection<EntryDocument>('audit_log');
  const insert = createOrderedInsert(db, stored, {
    listOf: ({ tenantId }) => tenantId,
  });
  return {
    async insert(entries) {
      await Promise.all(entries.map(({ id, ...entry }) => insert({ _id: id, ...entry })));
    },
    async find(tenantId, id) {
      // Filters by id only: with the tenant in the filter, some servers would scan all entries of the tenant.
      const found = await stored.findOne({ _id: id });
      return found && found.tenantId === tenantId ? entryOf(found) : null;
    },
    page({ tenantId, actorId, subject, ...query }) {
      const filter = {
        tenantId,
        ...(actorId !== null && { 'actor.id': actorId }),
        ...(subject !== null && { subject }),
      };
      return readPage(stored, filter, query, entryOf);
    },
  };
}

function entryOf({ _id, ...entry }: EntryDocument): RecordedEntry {
  return { id: _id, ...entry };
}
