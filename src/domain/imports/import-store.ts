import type { Page, PageQuery } from '../page.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Import, ImportCounts, ImportedInvoice, ImportStatus, Verdict } from './import.ts';
import type { ColumnMapping } from './reading.ts';
import type { SaleMarks } from './sale-marks.ts';

/** The lease of a worker on an import. */
export interface ImportClaim {
  readonly imported: Import;
  readonly token: string;
}

/** The fields of an import that a worker changes. */
export type ImportProgress = Partial<
  Pick<Import, 'status' | 'reading' | 'failure' | 'counts' | 'isSettled' | 'mapping'>
>;

/** The store of imports. Each method takes one round trip unless stated otherwise. */
export interface ImportStore {
  /** @returns the import as it was stored. Its order key may be higher than the given one */
  insert(imported: Import): Promise<Import>;
  /** Finds an import of any tenant. */
  find(id: string): Promise<Import | null>;
  /** Finds those of these imports, of any tenant, that exist. */
  findMany(ids: readonly string[]): Promise<Import[]>;
  /** Returns the file sizes in bytes of at most `limit` imports of the owner. */
  sizes(owner: Owner, limit: number): Promise<number[]>;
  page(query: PageQuery): Promise<Page<Import>>;
  /**
   * Changes an import that has one of these statuses and this round, and makes its work due. A worker's claim on it is
   * lost.
   * @returns null if the import has another status or round
   */
  change(
    read: Pick<Import, 'id' | 'round'>,
    from: readonly ImportStatus[],
    change: Partial<Import>,
    dueAt: Date,
  ): Promise<Import | null>;
  /**
   * Removes an import that has one of these statuses, with its invoices and its file.
   * @returns whether it was removed
   */
  remove(id: string, statuses: readonly ImportStatus[]): Promise<boolean>;
  /**
   * Claims up to `limit` imports whose work is due, the longest due first, one of each tenant. At most three round
   * trips.
   */
  claim(now: Date, leaseMs: number, busyTenants: readonly string[], limit: number): Promise<ImportClaim[]>;
  /** Extends the lease of a claim. @returns whether the claim is still held */
  renew(claim: ImportClaim, now: Date, leaseMs: number): Promise<boolean>;
  /** Writes progress under a claim. @returns whether the claim is still held */
  save(claim: ImportClaim, progress: ImportProgress): Promise<boolean>;
  /** Ends a claim. @param dueAt when the next work is due; null if no more work is due */
  release(claim: ImportClaim, progress: ImportProgress, dueAt: Date | null): Promise<void>;
  /** Ends all claims. Only for a process that knows that no other process works. */
  releaseAll(now: Date): Promise<void>;
}

/** Selects invoices of an import. */
export interface ImportedQuery {
  readonly imported: Pick<Import, 'id' | 'round'>;
  /** The verdicts to include. Empty: all. */
  readonly only: readonly Verdict[];
  /** Selects the invoices after, or before, a place in the order of the file, beginning next to that place. */
  readonly after: number | null;
  readonly before: number | null;
  readonly limit: number;
  /** Maximum stored size in bytes. The first one is always included. */
  readonly maxBytes?: number;
}

/** The fields of a file's invoice that a worker changes. */
export type VerdictChange = Pick<ImportedInvoice, 'nth'> &
  Partial<Pick<ImportedInvoice, 'verdict' | 'problems' | 'warnings' | 'invoiceId' | 'outcome'>> & {
    /** Whether the invoice waits for the authority's decision and is read again until then. */
    readonly awaits?: boolean;
  };

/** The store of the invoices of files. Each method takes one round trip unless stated otherwise. */
export interface ImportedInvoiceStore {
  /** Stores invoices. An invoice whose place is taken is not stored. */
  put(invoices: readonly ImportedInvoice[], expiresAt: Date): Promise<void>;
  /** Removes the invoices of this round and of earlier ones. Takes one round trip for each thousand. */
  removeUpTo(importId: string, round: number): Promise<void>;
  /** Returns a page in the order of the file. Takes one round trip for each requested verdict. */
  page(
    query: ImportedQuery,
  ): Promise<{ readonly rows: ImportedInvoice[]; readonly hasMore: boolean; readonly bytes: number }>;
  /** Returns the invoices after a place that wait for the authority's decision, in the order of the file. */
  awaiting(imported: Pick<Import, 'id' | 'round'>, after: number, limit: number): Promise<ImportedInvoice[]>;
  change(imported: Pick<Import, 'id' | 'round'>, changes: readonly VerdictChange[]): Promise<void>;
  /** Returns the digests of all rows of a file. */
  raws(imported: Pick<Import, 'id' | 'round'>): Promise<ReadonlySet<string>>;
  /** Counts all invoices. Takes one round trip for each verdict and outcome. */
  counts(imported: Pick<Import, 'id' | 'round'>): Promise<ImportCounts>;
}

/** Stores uploaded files in pieces. */
export interface ImportFiles {
  /** Stores the nth piece of a file, from 0. */
  put(owner: Owner, importId: string, nth: number, piece: Uint8Array, expiresAt: Date): Promise<void>;
  /** Yields the pieces of a file in order. */
  read(importId: string): AsyncIterable<Uint8Array>;
  remove(importId: string): Promise<void>;
}

/** The columns that tenants have chosen, by the set of a file's headers. */
export interface ImportMappings {
  find(owner: Owner, headers: readonly string[]): Promise<ColumnMapping | null>;
  keep(owner: Owner, headers: readonly string[], mapping: ColumnMapping): Promise<void>;
}

/**
 * Stores for which rows invoices were issued, as long as these invoices are kept. So a row with the same texts is not
 * issued again, even if it is interpreted differently later (other columns, or a version that knows more headers).
 */
export interface IssuedRows {
  /** Returns the rows with these digests for which invoices were issued, by digest, in the order of their places. */
  of(owner: Owner, raws: readonly string[]): Promise<ReadonlyMap<string, readonly RowPlace[]>>;
  /** Returns rows whose issued invoices have one of these marked lines; only some of them if there are many. */
  alike(owner: Owner, lines: readonly string[]): Promise<RowPlace[]>;
  /**
   * Claims the places of rows before their invoices are issued, so that two imports never issue the same row.
   * @returns for each row, in order, the holder of its place if another one has it; null if the row got its place
   */
  claim(owner: Owner, rows: readonly RowPlace[]): Promise<(RowPlace | null)[]>;
  /** Releases the places that rows hold for these invoices, if the invoices were not issued for these rows. */
  release(owner: Owner, rows: readonly RowPlace[]): Promise<void>;
}

/** The place of a row among the rows with the same texts, and the invoice that is issued for it. */
export interface RowPlace {
  readonly raw: string;
  readonly place: number;
  /** The key of the invoice, and its id, which is derived from it. */
  readonly key: string;
  readonly invoiceId: string;
  readonly sale: SaleMarks;
}
