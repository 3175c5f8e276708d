import type { Db } from 'mongodb';
import { createExportFolder } from '../adapters/tenant-folder/export-folder.ts';
import { verifyExport } from '../adapters/tenant-folder/verify-export.ts';
import type { Config } from '../config.ts';
import { createAudit } from '../domain/audit/record-entries.ts';
import { entryByOperator, INSTALLATION } from '../domain/audit-entry.ts';
import { exportKept, exportTenant } from '../domain/tenant-data/export-tenant.ts';
import type { ExportManifest, TenantRecords } from '../domain/tenant-data/ports.ts';
import { ATTEMPT_FIELDS } from '../domain/webhook/delivery.ts';
import { bodyAtRest } from '../domain/webhook/webhook-event.ts';
import { createAuditLog } from '../storage/audit-log.ts';
import { createDocumentStore } from '../storage/documents.ts';
import { createExportedRecords } from '../storage/exported-records.ts';
import { createInvoiceRepository } from '../storage/invoices.ts';
import { createLogoStore } from '../storage/logos.ts';
import { createPeopleRepository } from '../storage/people.ts';
import { createRequestLog } from '../storage/request-log.ts';
import { createTenantRepository } from '../storage/tenants.ts';
import { createAttemptReading } from '../storage/webhook-attempts.ts';
import { createWebhookEndpointRepository } from '../storage/webhook-endpoints.ts';
import { createEventLog } from '../storage/webhook-events.ts';
import { openAdministration } from './administration.ts';

export { verifyExport };

/**
 * Exports a tenant of the configured store to a new folder, with or without a running service. For an erased tenant,
 * exports the data that is left.
 * @param report called when the audit log cannot be written
 * @throws when there is no such tenant, it is erased meanwhile, the folder is not empty, or a document is damaged
 */
export async function exportTenantTo(
  config: Config,
  tenantId: string,
  folder: string,
  report: (failure: unknown) => void,
): Promise<ExportManifest> {
  const { store, tenants, erasures, auditLog, close } = await openAdministration(config);
  try {
    // Checked before the folder is created.
    const isPresent = (await tenants.find(tenantId)) !== null;
    if (!isPresent && (await erasures.find(tenantId)) === null) throw new Error(`There is no tenant '${tenantId}'.`);
    const target = await createExportFolder(folder);
    const records = { ...recordsOf(store.db), kept: erasures.kept };
    try {
      const written = isPresent ? exportTenant : exportKept;
      const manifest = await written(records, tenantId, target, new Date());
      if (manifest === null) throw new Error(`There is no tenant '${tenantId}' any more.`);
      const audit = createAudit(auditLog, () => undefined, report);
      // The tenant may have been erased meanwhile. Nothing may be stored about an erased tenant, so the installation is
      // recorded.
      const owner = (await tenants.find(tenantId)) === null ? INSTALLATION : tenantId;
      await audit(entryByOperator(owner, null, 'tenant.exported', { subject: tenantId }));
      return manifest;
    } finally {
      await target.close();
    }
  } finally {
    await close();
  }
}

/** Returns the records that an export reads. */
export function recordsOf(db: Db): TenantRecords {
  // A placeholder for document URLs, which `bodyAtRest` removes again.
  const log = createEventLog(db, () => 'url');
  const attempts = createAttemptReading(db);
  return {
    tenants: createTenantRepository(db),
    logos: createLogoStore(db),
    people: createPeopleRepository(db),
    invoices: createInvoiceRepository(db),
    documents: createDocumentStore(db),
    endpoints: createWebhookEndpointRepository(db),
    async events(query) {
      const page = await log.page(query);
      return { ...page, rows: page.rows.map((event) => ({ ...event, body: bodyAtRest(event).body })) };
    },
    deliveries: (query) => attempts.pageWithAttempts(query, ATTEMPT_FIELDS),
    requests: createRequestLog(db),
    audit: createAuditLog(db),
    others: createExportedRecords(db),
  };
}
