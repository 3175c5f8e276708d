import type { AuditLog } from '../audit-entry.ts';
import type { DocumentStore, InvoiceRepository } from '../invoice/repository.ts';
import type { Page, PageQuery } from '../page.ts';
import type { PeopleRepository } from '../person/ports.ts';
import type { RequestLog } from '../request-log/request-record.ts';
import type { LogoStore, TenantRepository } from '../tenant/ports.ts';
import type { DeliveryLedger, EndpointRepository } from '../webhook/ports.ts';
import type { WebhookEvent } from '../webhook/webhook-event.ts';

/** The stored data of a tenant, by the pages of its lists. */
export interface TenantRecords {
  readonly tenants: Pick<TenantRepository, 'find' | 'keysOf'>;
  readonly logos: LogoStore;
  readonly people: Pick<PeopleRepository, 'membersOf'>;
  readonly invoices: Pick<InvoiceRepository, 'page' | 'orderOf'>;
  readonly documents: Pick<DocumentStore, 'read'>;
  readonly endpoints: Pick<EndpointRepository, 'list'>;
  /** The events, without the URLs of documents in their bodies: who has one can read the document. */
  events(query: PageQuery & { readonly type: null }): Promise<Page<WebhookEvent>>;
  readonly deliveries: Pick<DeliveryLedger, 'page' | 'attempts'>;
  readonly requests: Pick<RequestLog, 'page'>;
  readonly audit: Pick<AuditLog, 'page'>;
}

/** Bytes as a file has them. */
export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/**
 * A new folder that an export is written to. Paths have `/` between their parts, each part of letters, digits and `._-`;
 * no two differ in upper and lower case alone.
 */
export interface ExportTarget {
  /** @throws when there is such a file already */
  write(path: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Ends the export: from then on it is whole.
   * @param records the numbers of lines of the files that have lines, by path
   */
  finish(facts: ExportFacts, records: ReadonlyMap<string, number>): Promise<ExportManifest>;
}

export interface ExportFacts {
  readonly tenantId: string;
  /** UTC. Data that was stored before is in the export. */
  readonly startedAt: Date;
}

/** The facts of an export, and its contents. */
export interface ExportManifest {
  readonly format: 1;
  readonly tenant: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly finished_at: string;
  /** Lines by path, in the files with one JSON value a line. */
  readonly records: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  /** SHA-256 of `SHA256SUMS`, which has that of every other file. */
  readonly sums: string;
}
