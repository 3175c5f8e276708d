import type { Page, PageQuery } from '../page.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Import, ImportCounts, ImportedInvoice, ImportStatus, Verdict } from './import.ts';
import type { ColumnMapping } from './reading.ts';
import type { SaleMarks } from './sale-marks.ts';

/** The right of a worker to work on an import until a time. */
export interface ImportClaim {
  readonly imported: Import;
  readonly token: string;
}

/** What a worker writes of an import. */
export type ImportProgress = Partial<
  Pick<Import, 'status' | 'reading' | 'failure' | 'counts' | 'isSettled' | 'mapping'>
>;

/** The store of imports. Each method takes one round trip unless stated otherwise. */
export interface ImportStore {
  /** @returns the import as it is stored: its order key may be higher */
  insert(imported: Import): Promise<Import>;
  /** Finds an import of any tenant. */
  find(id: string): Promise<Import | null>;
  /** Finds those of these imports, of any tenant, that exist. */
  findMany(ids: readonly string[]): Promise<Import[]>;
  /** Returns the sizes of the files of the owner's imports in bytes, of at most `limit` imports. */
  sizes(owner: Owner, limit: number): Promise<number[]>;
  page(query: PageQuery): Promise<Page<Import>>;
  /**
   * Changes an import if it has one of these statuses and this round, and makes its work due. A worker that has a claim
   * loses it.
   * @returns null if it is otherwise
   */
  change(
    read: Pick<Import, 'id' | 'round'>,
    from: readonly ImportStatus[],
    change: Partial<Import>,
    dueAt: Date,
  ): Promise<Import | null>;
  /** Removes an import, if it has one of these statuses, with its invoices and its file. @returns whether it did */
  remove(id: string, statuses: readonly ImportStatus[]): Promise<boolean>;
  /** Takes up to `limit` imports whose work is due, those due longest first, one of each tenant. Takes up to three. */
  claim(now: Date, leaseMs: number, busyTenants: readonly string[], limit: number): Promise<ImportClaim[]>;
  /** @returns whether the claim was not lost */
  renew(claim: ImportClaim, now: Date, leaseMs: number): Promise<boolean>;
  /** Writes progress under a claim. @returns whether the claim was not lost */
  save(claim: ImportClaim, progress: ImportProgress): Promise<boolean>;
  /** Ends a claim. @param dueAt when the next work is due; null: there is none */
  release(claim: ImportClaim, progress: ImportProgress, dueAt: Date | null): Promise<void>;
  /** Ends all claims. For a process that knows that no other one works. */
  releaseAll(now: Date): Promise<void>;
}

/** Which invoices of an import are read. */
export interface ImportedQuery {
  readonly imported: Pick<Import, 'id' | 'round'>;
  /** Empty: all. */
  readonly only: readonly Verdict[];
  /** In the order of the file: those after this place, or those before it, counted from there. */
  readonly after: number | null;
  readonly before: number | null;
  readonly limit: number;
  /** Maximum stored size in bytes. The first one is always included. */
  readonly maxBytes?: number;
}

/** What a worker writes of an invoice of a file. */
export type VerdictChange = Pick<ImportedInvoice, 'nth'> &
  Partial<Pick<ImportedInvoice, 'verdict' | 'problems' | 'warnings' | 'invoiceId' | 'outcome'>> & {
    /** Whether it is looked at again until the authority has decided. */
    readonly awaits?: boolean;
  };

/** The store of the invoices of files. Each method takes one round trip unless stated otherwise. */
export interface ImportedInvoiceStore {
  /** Stores invoices. One of a place that is taken is not stored. */
  put(invoices: readonly ImportedInvoice[], expiresAt: Date): Promise<void>;
  /** Removes what rounds up to this one have stored. Takes one round trip for each thousand. */
  removeUpTo(importId: string, round: number): Promise<void>;
  /** In the order of the file. Takes one round trip for each verdict that is asked for. */
  page(
    query: ImportedQuery,
  ): Promise<{ readonly rows: ImportedInvoice[]; readonly hasMore: boolean; readonly bytes: number }>;
  /** Those whose decision is awaited, after a place, in the order of the file. */
  awaiting(imported: Pick<Import, 'id' | 'round'>, after: number, limit: number): Promise<ImportedInvoice[]>;
  change(imported: Pick<Import, 'id' | 'round'>, changes: readonly VerdictChange[]): Promise<void>;
  /** Returns the digests of all rows of a file. */
  raws(imported: Pick<Import, 'id' | 'round'>): Promise<ReadonlySet<string>>;
  /** Counts all. Takes one round trip for each verdict and outcome. */
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

/** The columns that tenants have chosen, by the set of headers of a file. */
export interface ImportMappings {
  find(owner: Owner, headers: readonly string[]): Promise<ColumnMapping | null>;
  keep(owner: Owner, headers: readonly string[], mapping: ColumnMapping): Promise<void>;
}

/**
 * Remembers of which rows invoices were issued, for as long as the invoices. Whatever is understood otherwise later (other
 * columns, a version that knows more headers), a row with the same texts is not issued again.
 */
export interface IssuedRows {
  /** Returns the rows with these digests of which invoices were issued, by digest, in the order of their places. */
  of(owner: Owner, raws: readonly string[]): Promise<ReadonlyMap<string, readonly RowPlace[]>>;
  /** Returns rows of which invoices with one of these marked lines were issued: some of them, if they are many. */
  alike(owner: Owner, lines: readonly string[]): Promise<RowPlace[]>;
  /**
   * Takes the places of rows before their invoices are issued, so that two imports never issue the same row.
   * @returns for each who else has its place, in order; null: it has its place
   */
  claim(owner: Owner, rows: readonly RowPlace[]): Promise<(RowPlace | null)[]>;
  /** Frees the places of rows that these invoices have, and are not issued of. */
  release(owner: Owner, rows: readonly RowPlace[]): Promise<void>;
}

/** The place of a row among those with the same texts, and the invoice that is issued of it. */
export interface RowPlace {
  readonly raw: string;
  readonly place: number;
  /** The key of the invoice, and its id, which is derived from it. */
  readonly key: string;
  readonly invoiceId: string;
  readonly sale: SaleMarks;
}
