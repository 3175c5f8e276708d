import type { Original } from '../invoice/credit.ts';
import type { Invoice } from '../invoice/invoice.ts';
import type { Stage } from '../invoice/lifecycle.ts';
import type { Environment, Owner } from '../tenant/tenant.ts';

/** A tenant that is being erased, or of which only legal documents remain. */
export interface Erasure {
  readonly tenantId: string;
  /** When its keys were removed. */
  readonly since: Date;
  /** Whether data may remain that must be removed. */
  readonly isPending: boolean;
}

/** The facts that decide what happens to an invoice of an erased tenant. */
export interface ErasableInvoice {
  readonly id: string;
  /** The order key. */
  readonly order: string;
  /** Whether the status is final. */
  readonly isDecided: boolean;
  /** The stage of the pending work; null if there is none. */
  readonly stage: Stage | null;
  /** When the invoice was hidden from all readers; null if it is not hidden. */
  readonly withheldAt: Date | null;
  /** Whether the invoice has a legal number, or its XML was signed. */
  readonly isIssued: boolean;
}

/**
 * The data that is kept of an erased tenant's live invoice or credit note: the signed XML, the authority's answer, the
 * number, and the fields needed to find them. The documents contain the buyer's data; nothing else does.
 */
export interface KeptInvoice
  extends Pick<
      Invoice,
      | 'id'
      | 'tenantId'
      | 'environment'
      | 'kind'
      | 'status'
      | 'number'
      | 'ownNumber'
      | 'dgiId'
      | 'rejectionReason'
      | 'problems'
    >,
    Pick<
      Invoice,
      'authorityWarnings' | 'heldAs' | 'createdAt' | 'updatedAt' | 'events' | 'xml' | 'receipt' | 'cleared'
    > {
  /** The invoice that a credit note corrects; null for an invoice. */
  readonly original: Original | null;
  /** The year of issue in Morocco's time zone. The retention period starts at its end. */
  readonly issueYear: number;
  /** The last year of the retention period, as computed when the invoice was kept. */
  readonly keptThrough: number;
}

/** The current time and setting, which determine when retention periods end. */
export interface RetentionNow {
  /** The current year in Morocco. */
  readonly year: number;
  /** Number of years, after the year of its issue, for which a live invoice's documents are kept. */
  readonly retentionYears: number;
}

/** The counts of a tenant's data for the preview, before anything is erased. */
export interface TenantCounts {
  readonly keys: number;
  readonly members: number;
  readonly endpoints: number;
  readonly testInvoices: number;
  readonly drafts: number;
  readonly events: number;
  readonly deliveries: number;
  readonly requests: number;
  readonly auditEntries: number;
  /** Numbers of live invoices whose documents are kept, and of those that the service must finish first. */
  readonly liveDecided: number;
  readonly liveUnderWay: number;
}

/**
 * Stores and removes the data of an erasure. Each method does a bounded amount of work, uses an index, and may be
 * repeated after a crash at any point. Methods with a `limit` return how much they did; 0 means that nothing is left.
 */
export interface ErasureStore {
  /**
   * Starts the erasure: the tenant is no longer found, and its keys, profile and settings are removed.
   * @returns null if there is no such tenant
   */
  begin(tenantId: string, at: Date): Promise<Erasure | null>;
  find(tenantId: string): Promise<Erasure | null>;
  /**
   * Returns up to `limit` tenants that may have data to be removed, by id.
   * @param after the id before the first; null: from the first
   */
  pending(after: string | null, limit: number): Promise<Erasure[]>;
  counts(tenantId: string): Promise<TenantCounts>;
  /** Returns the ids of up to `limit` live invoices that make no progress until an operator retries them. */
  blocked(tenantId: string, limit: number): Promise<string[]>;
  /** Removes memberships, invitations, and the accounts of people who belong to this tenant alone. */
  removePeople(tenantId: string, limit: number): Promise<number>;
  /** Removes the webhook endpoints. No webhook is sent afterwards. */
  removeEndpoints(tenantId: string, limit: number): Promise<number>;
  /** Removes deliveries with their attempts. */
  removeDeliveries(tenantId: string, limit: number): Promise<number>;
  /** Removes events, requests, the audit log, counts, and the description of the tenant's own signing certificate. */
  removeRecords(tenantId: string, limit: number): Promise<number>;
  /** Reads up to `limit` invoices, newest first. @param before order key; null: from the newest */
  invoices(owner: Owner, before: string | null, limit: number): Promise<ErasableInvoice[]>;
  /** Hides invoices from every reader. */
  withhold(invoiceIds: readonly string[], at: Date): Promise<void>;
  /**
   * Hides invoices like `withhold` and takes them from their workers, whose later writes to them are refused.
   * @param stages restricts it to invoices with work of these stages; null: any
   */
  detach(invoiceIds: readonly string[], stages: readonly Stage[] | null, at: Date): Promise<void>;
  /** Removes invoices without work, and keeps the {@link KeptInvoice} of each for the given number of years. */
  keepLegal(invoiceIds: readonly string[], retentionYears: number): Promise<void>;
  /** Removes the PDFs of invoices that were kept. */
  removePdfs(tenantId: string, limit: number): Promise<number>;
  /** Removes invoices without work, with their documents, numbers and submissions to the mock authority. */
  removeInvoices(owner: Owner, invoiceIds: readonly string[]): Promise<void>;
  /** Removes numbers of test invoices that were never assigned to an invoice. */
  removeNumbers(tenantId: string, environment: Environment, limit: number): Promise<number>;
  /** Removes logos that no other tenant uses. */
  removeLogos(tenantId: string): Promise<void>;
  /** Ends the erasure. Without kept documents the tenant and its numbers are removed completely. */
  finish(tenantId: string): Promise<void>;
  /**
   * Returns up to `limit` kept invoices whose retention period is over by both the current setting and the setting when
   * they were kept.
   */
  expired(now: RetentionNow, limit: number): Promise<KeptInvoice[]>;
  /** Removes kept invoices and marks their tenants' erasures as pending again. */
  removeExpired(invoiceIds: readonly string[]): Promise<void>;
  /** Reads kept invoices by id. */
  kept(tenantId: string, after: string | null, limit: number): Promise<KeptInvoice[]>;
}
