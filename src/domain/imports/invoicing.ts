import type { Problem } from '../errors.ts';
import type { InvoiceWarning } from '../invoice/invoice-warnings.ts';
import type { InvoiceStatus } from '../invoice/lifecycle.ts';
import type { Member } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';

/** The result of checking an invoice of a file. */
export interface CheckedInput {
  readonly problems: readonly Problem[];
  readonly warnings: readonly InvoiceWarning[];
}

/** An invoice as it was issued by an import. */
export interface IssuedAs {
  /** Digest of the content. */
  readonly digest: string;
  /** Digest of the texts of the rows for which it was issued. */
  readonly raw: string;
  /** The legal number; null until it is assigned. */
  readonly number: string | null;
  /** The calendar date in Morocco. */
  readonly date: string;
  /** Whether the authority has rejected it and no other invoice replaces it. Then the sale has no invoice. */
  readonly isRejected: boolean;
}

/** The operations on invoices that imports need. */
export interface ImportInvoicing {
  /** Adds what the file may omit: the currency, and the amount if it is the total of the lines. */
  completed(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Returns a text that is equal for equal content only, independent of the order of the lines. */
  digestOf(input: Readonly<Record<string, unknown>>): string;
  /** Returns the id of the invoice with this key, always the same. */
  idOf(owner: Owner, key: string): string;
  /** Returns how these invoices were issued, for those that exist and have a key. Takes one round trip. */
  issuedAs(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, IssuedAs>>;
  /** Finds the id of the invoice with this legal number. */
  findByNumber(owner: Owner, number: string): Promise<string | null>;
  /** Runs all checks of an invoice. Nothing is stored. */
  check(by: Member, input: Readonly<Record<string, unknown>>): Promise<CheckedInput>;
  /**
   * Issues an invoice at most once per key.
   * @returns `isOwn`: whether this import has issued it, now or before its process died; `present`: the invoice that
   *   another import issued with this key
   * @throws {ServiceError} as `createInvoice`
   */
  issue(
    by: Member,
    as: { readonly importId: string; readonly key: string; readonly digest: string; readonly raw: string },
    input: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly invoiceId: string; readonly isOwn: boolean; readonly present: IssuedAs | null }>;
  /** Returns the statuses of those of these invoices that exist. */
  statusesOf(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, InvoiceStatus>>;
}
