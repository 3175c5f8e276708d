import type { Problem } from '../errors.ts';
import type { InvoiceWarning } from '../invoice/invoice-warnings.ts';
import type { InvoiceStatus } from '../invoice/lifecycle.ts';
import type { Member } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';

/** What an invoice of a file would be. */
export interface CheckedInput {
  readonly problems: readonly Problem[];
  readonly warnings: readonly InvoiceWarning[];
}

/** What imports need of invoices. */
export interface ImportInvoicing {
  /** Returns the input with what the file may leave to us: the currency, and the amount if it is the total of the lines. */
  completed(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Returns a text that is equal for equal content only. */
  digestOf(input: Readonly<Record<string, unknown>>): string;
  /** Returns the id of the invoice that is issued with this key. It is the same at each call. */
  idOf(owner: Owner, key: string): string;
  /** Returns those of these invoices that exist. Takes one round trip. */
  existing(invoiceIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whether the invoice was imported with content that has this digest. */
  wasIssuedOf(invoiceId: string, digest: string): Promise<boolean>;
  /** Runs all checks of an invoice. Nothing is stored. */
  check(by: Member, input: Readonly<Record<string, unknown>>): Promise<CheckedInput>;
  /**
   * Issues an invoice once, however often it is called with this key.
   * @returns `isOwn`: whether this import has issued it, now or before its process died
   * @throws {ServiceError} as `createInvoice`
   */
  issue(
    by: Member,
    as: { readonly importId: string; readonly key: string; readonly digest: string },
    input: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly invoiceId: string; readonly isOwn: boolean }>;
  /** Returns the status of each of these invoices that exists. */
  statusesOf(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, InvoiceStatus>>;
}
