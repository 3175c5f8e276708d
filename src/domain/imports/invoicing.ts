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

/** As what an invoice was imported. */
export interface IssuedAs {
  /** Of the content. */
  readonly digest: string;
  /** Of the texts of the rows of which it was issued. */
  readonly raw: string;
  /** The legal number; null until it is assigned. */
  readonly number: string | null;
  /** The calendar date in Morocco. */
  readonly date: string;
  /** Whether the authority has rejected it and none replaces it: then there is no invoice of the sale. */
  readonly isRejected: boolean;
}

/** What imports need of invoices. */
export interface ImportInvoicing {
  /** Returns the input with what the file may leave to us: the currency, and the amount if it is the total of the lines. */
  completed(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Returns a text that is equal for equal content only, whatever the order of its lines. */
  digestOf(input: Readonly<Record<string, unknown>>): string;
  /** Returns the id of the invoice that is issued with this key. It is the same at each call. */
  idOf(owner: Owner, key: string): string;
  /** Returns as what each of these invoices was created, of those that exist and have a key. Takes one round trip. */
  issuedAs(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, IssuedAs>>;
  /** Finds the id of the invoice with this legal number. */
  findByNumber(owner: Owner, number: string): Promise<string | null>;
  /** Runs all checks of an invoice. Nothing is stored. */
  check(by: Member, input: Readonly<Record<string, unknown>>): Promise<CheckedInput>;
  /**
   * Issues an invoice once, however often it is called with this key.
   * @returns `isOwn`: whether this import has issued it, now or before its process died, and as what it was issued otherwise
   * @throws {ServiceError} as `createInvoice`
   */
  issue(
    by: Member,
    as: { readonly importId: string; readonly key: string; readonly digest: string; readonly raw: string },
    input: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly invoiceId: string; readonly isOwn: boolean; readonly present: IssuedAs | null }>;
  /** Returns the status of each of these invoices that exists. */
  statusesOf(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, InvoiceStatus>>;
}
