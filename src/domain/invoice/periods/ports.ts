import type { DocumentLanguage } from '../../document-language.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import type { Kind } from '../kinds.ts';
import type { DaySums } from './day-sums.ts';
import type { DeclaredDocument } from './declared-document.ts';
import type { Period } from './period.ts';
import type { SummedInvoice } from './summed-invoice.ts';

/** A document as it was when it had `sequence` events, all of which are in the log of events. */
export interface PublishedInvoice extends SummedInvoice {
  readonly sequence: number;
}

/**
 * The sums of a tenant's documents by the day of issue, kind and status (docs/decisions/0090), and what a search finds
 * each document by (0091). Every document remembers the status under which the sums have it, so each change counts once.
 * Every method uses an index.
 */
export interface PeriodSums {
  /**
   * Moves documents to their status in the sums of their day, writes what a search finds them by, and takes them out of
   * the outbox, in one transaction for many. Leaves out those that have had an event since, and those that nobody reads any more. Concurrent and repeated
   * calls are safe.
   * @throws what one of them caused; the others are recorded
   */
  record(published: readonly PublishedInvoice[]): Promise<void>;
  /** The same for documents of {@link takeWaiting}, unless they got an event or a number since. @param mark of these */
  recordWaiting(summed: readonly SummedInvoice[], mark: Date): Promise<void>;
  /**
   * Up to `limit` documents that have had no event for a minute since their creation or their number, and are not summed
   * since; each again only at `mark`, after `pauseMs`.
   */
  takeWaiting(limit: number, pauseMs: number): Promise<{ readonly invoices: readonly Invoice[]; readonly mark: Date }>;
  /** Those of the days on which something was issued, in no particular order. */
  days(owner: Owner, dates: readonly string[]): Promise<DaySums[]>;
}

/** A batch of the documents of a period. */
export interface PeriodBatch<Row> {
  readonly rows: readonly Row[];
  /** Where the next batch begins; null at the end. */
  readonly next: string | null;
}

/** Reads the accepted documents that a tenant issued in a period, by their date of issue. Every method uses an index. */
export interface PeriodDocuments {
  /**
   * Reads the next documents of a kind in the order of their creation, which is that of the service's own numbers.
   * @param after `next` of the batch before; null for the first one
   */
  accepted(owner: Owner, kind: Kind, period: Period, after: string | null): Promise<PeriodBatch<Invoice>>;
  /** The same for the files of those that were accepted by `until`: later calls find the same documents. */
  filed(
    owner: Owner,
    kind: Kind,
    period: Period,
    until: Date,
    after: string | null,
  ): Promise<PeriodBatch<FiledDocument>>;
}

/** What names the files of an accepted document, and finds their bytes. Its `updatedAt` is that of the acceptance. */
export type FiledDocument = Pick<
  Invoice,
  'id' | 'kind' | 'createdAt' | 'updatedAt' | 'number' | 'ownNumber' | 'xml' | 'cleared' | 'awaitsCleared' | 'pdf'
>;

/** The formats of a declaration. */
export const DECLARATION_FORMATS = ['xlsx', 'csv'] as const;
export type DeclarationFormat = (typeof DECLARATION_FORMATS)[number];

/**
 * Writes a declaration as a file, while its documents are read. Closes `batches` when nobody reads the file any more.
 * @param title what the documents have in common, such as the name of their period
 */
export type WriteDeclaration = (
  format: DeclarationFormat,
  batches: AsyncIterable<readonly DeclaredDocument[]>,
  title: string,
  language: DocumentLanguage,
) => AsyncIterable<Uint8Array>;
