import type { KeyRepository } from '../api-key/ports.ts';
import type { AuditLog } from '../audit-entry.ts';
import type { DocumentStore } from '../invoice/document-store.ts';
import type { InvoiceReading } from '../invoice/repository.ts';
import type { Page, PageQuery } from '../page.ts';
import type { PeopleRepository } from '../person/ports.ts';
import type { RequestLog } from '../request-log/request-record.ts';
import type { LogoStore, TenantRepository } from '../tenant/ports.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { DeliveryWithAttempts } from '../webhook/delivery.ts';
import type { DeliveryFilter, EndpointRepository } from '../webhook/ports.ts';
import type { WebhookEvent } from '../webhook/webhook-event.ts';

/** Reads the stored data of a tenant, page by page. */
export interface TenantRecords {
  readonly tenants: Pick<TenantRepository, 'find'> & Pick<KeyRepository, 'keysOf'>;
  readonly logos: LogoStore;
  readonly people: Pick<PeopleRepository, 'membersOf'>;
  readonly invoices: Pick<InvoiceReading, 'page' | 'orderOf'>;
  readonly documents: Pick<DocumentStore, 'read'>;
  readonly endpoints: Pick<EndpointRepository, 'list'>;
  /** Reads the events, without the document URLs in their bodies, because a URL gives access to its document. */
  events(query: PageQuery & { readonly type: null }): Promise<Page<WebhookEvent>>;
  /** Reads the deliveries with all fields of their attempts. */
  deliveries(query: PageQuery & DeliveryFilter): Promise<Page<DeliveryWithAttempts>>;
  readonly requests: Pick<RequestLog, 'page'>;
  readonly audit: Pick<AuditLog, 'page'>;
  readonly others: ExportedRecords;
}

/** The collections of records that an export writes as they are stored. */
export interface ExportedRecords {
  /** Names of the collections, which are those of the files. */
  readonly names: readonly string[];
  /** Reads the records of a collection. Their members are those that are stored, and `id`. */
  read(name: string, owner: Owner): AsyncIterable<object>;
}

/** The size and digest of a written file. */
export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/**
 * A new folder to which an export is written. The parts of paths are separated by `/` and consist of letters, digits
 * and `._-`. No two paths may differ only in case.
 */
export interface ExportTarget {
  /** Writes a file. @throws when the file already exists */
  write(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Completes the export.
   * @param records the numbers of lines of the files that have lines, by path
   */
  finish(facts: ExportFacts, records: ReadonlyMap<string, number>): Promise<ExportManifest>;
}

export interface ExportFacts {
  readonly tenantId: string;
  /** UTC. The export contains all data that was stored before. */
  readonly startedAt: Date;
}

/** The facts of an export, and its contents. */
export interface ExportManifest {
  readonly format: 1;
  readonly tenant: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly finished_at: string;
  /** Number of lines by path, for the files with one JSON value per line. */
  readonly records: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  /** SHA-256 of `SHA256SUMS`, which contains the SHA-256 of every other file. */
  readonly sums: string;
}
