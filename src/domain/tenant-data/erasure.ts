import type { Invoice } from '../invoice/invoice.ts';
import type { Stage } from '../invoice/lifecycle.ts';
import type { Environment, Owner } from '../tenant/tenant.ts';

/** A tenant that is being erased, or of which only legal documents are left. */
export interface Erasure {
  readonly tenantId: string;
  /** Since when its keys are gone. */
  readonly since: Date;
  /** Whether data may be left that must be removed. */
  readonly isPending: boolean;
}

/** The facts that decide the fate of an invoice whose tenant is erased. */
export interface ErasableInvoice {
  readonly id: string;
  /** Order key. */
  readonly order: string;
  /** Whether its status is final. */
  readonly isDecided: boolean;
  /** The stage of its work; null if it has none. */
  readonly stage: Stage | null;
  /** When it was hidden from all readers; null if it is not hidden. */
  readonly withheldAt: Date | null;
  /** Whether it has taken a legal number, or its XML was signed. */
  readonly isIssued: boolean;
}

/**
 * The data that remains of a live invoice whose tenant is erased: the signed XML, the authority's answer, the number,
 * and the fields that are needed to find them. Data of the buyer remains in the documents only.
 */
export interface KeptInvoice
  extends Pick<
      Invoice,
      'id' | 'tenantId' | 'environment' | 'status' | 'number' | 'ownNumber' | 'dgiId' | 'rejectionReason' | 'problems'
    >,
    Pick<
      Invoice,
      'authorityWarnings' | 'heldAs' | 'createdAt' | 'updatedAt' | 'events' | 'xml' | 'receipt' | 'cleared'
    > {
  /** The year of issue, in Morocco's time zone. The retention period begins at its end. */
  readonly issueYear: number;
  /** The last year of the retention period, as it was when the invoice was kept. */
  readonly keptThrough: number;
}

/** The present time and setting, by which retention periods end. */
export interface RetentionNow {
  /** The present year in Morocco. */
  readonly year: number;
  /** Years after that of its issue in which a live invoice's documents are kept. */
  readonly retentionYears: number;
}

/** The counts of a tenant's data, in the words of the preview. Counted before anything is erased. */
export interface TenantCounts {
  readonly keys: number;
  readonly members: number;
  readonly endpoints: number;
  readonly testInvoices: number;
  readonly events: number;
  readonly deliveries: number;
  readonly requests: number;
  readonly auditEntries: number;
  /** Live invoices by what becomes of them: their documents stay, or the service finishes them first. */
  readonly liveDecided: number;
  readonly liveUnderWay: number;
}

/**
 * The store of the data that is erased. Each method does a bounded piece of work, uses an index, and may be repeated
 * after a crash at any point. Methods with a `limit` return how much they did: 0 if there is nothing left.
 */
export interface ErasureStore {
  /** Makes the tenant unknown: its keys, profile and settings are gone. @returns null if there is no such tenant */
  begin(tenantId: string, at: Date): Promise<Erasure | null>;
  find(tenantId: string): Promise<Erasure | null>;
  /** Up to `limit` tenants of which something may be left that has to go, by id. @param after id; null: from the first */
  pending(after: string | null, limit: number): Promise<Erasure[]>;
  counts(tenantId: string): Promise<TenantCounts>;
  /** The ids of up to `limit` live invoices that make no progress before an operator retries them. */
  blocked(tenantId: string, limit: number): Promise<string[]>;
  /** The accounts of people who belong to this tenant alone, memberships and invitations. */
  removePeople(tenantId: string, limit: number): Promise<number>;
  /** No webhook is sent from here on. */
  removeEndpoints(tenantId: string, limit: number): Promise<number>;
  /** Deliveries with their attempts. */
  removeDeliveries(tenantId: string, limit: number): Promise<number>;
  /** Events, requests, the audit log, counts, and the description of the tenant's own signing certificate. */
  removeRecords(tenantId: string, limit: number): Promise<number>;
  /** Up to `limit` invoices, newest first. @param before order key; null: from the newest */
  invoices(owner: Owner, before: string | null, limit: number): Promise<ErasableInvoice[]>;
  /** Hides invoices from every reader. */
  withhold(invoiceIds: readonly string[], at: Date): Promise<void>;
  /**
   * Hides invoices like `withhold` and takes them from their workers: what a worker still writes to one is refused.
   * @param stages only of invoices with work of these stages; null: of any
   */
  detach(invoiceIds: readonly string[], stages: readonly Stage[] | null, at: Date): Promise<void>;
  /** Removes invoices that have no work, and keeps of each what {@link KeptInvoice} has, for so many years. */
  keepLegal(invoiceIds: readonly string[], retentionYears: number): Promise<void>;
  /** Removes the PDFs of invoices that were kept. */
  removePdfs(tenantId: string, limit: number): Promise<number>;
  /** Removes invoices that have no work, with their documents, numbers and submissions to the mock authority. */
  removeInvoices(owner: Owner, invoiceIds: readonly string[]): Promise<void>;
  /** Numbers of test invoices that no invoice got. */
  removeNumbers(tenantId: string, environment: Environment, limit: number): Promise<number>;
  /** Logos that no other tenant has. */
  removeLogos(tenantId: string): Promise<void>;
  /** Ends the erasure: nothing is pending. Without kept documents the tenant and its numbers disappear. */
  finish(tenantId: string): Promise<void>;
  /**
   * Up to `limit` kept invoices whose retention period is over by the present setting and by the one of the time when they
   * were kept.
   */
  expired(now: RetentionNow, limit: number): Promise<KeptInvoice[]>;
  /** Removes kept invoices; their tenants are pending again. */
  removeExpired(invoiceIds: readonly string[]): Promise<void>;
  /** Kept invoices by id. */
  kept(tenantId: string, after: string | null, limit: number): Promise<KeptInvoice[]>;
}
