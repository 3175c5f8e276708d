import type { DocumentLanguage } from '../../document-language.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { Invoice } from '../invoice.ts';
import type { Kind } from '../kinds.ts';
import type { DaySums } from './day-sums.ts';
import type { DeclaredDocument } from './declared-document.ts';
import type { Period } from './period.ts';
import type { SummedInvoice } from './summed-invoice.ts';

/** A document as it was when it had `sequence` events, all of which are in the event log. */
export interface PublishedInvoice extends SummedInvoice {
  readonly sequence: number;
}

/**
 * Keeps the sums of a tenant's documents by day of issue, kind and status (docs/decisions/0090), and the search terms
 * of each document (0091). Every document stores the status under which the sums contain it, so each change counts
 * once. Every method uses an index.
 */
export interface PeriodSums {
  /**
   * Moves documents to their present status in the sums of their day, writes their search terms, and removes them from
   * the outbox, in one transaction for many. Skips documents that have had an event since, and withheld ones.
   * Concurrent and repeated calls are safe.
   * @throws the failure of one document; the others are recorded
   */
  record(published: readonly PublishedInvoice[]): Promise<void>;
  /**
   * Does the same for documents of {@link takeWaiting}, except those with a new event or number.
   * @param mark of these
   */
  recordWaiting(summed: readonly SummedInvoice[], mark: Date): Promise<void>;
  /**
   * Claims up to `limit` unsummed documents that have had no event for a minute since their creation or their number.
   * Until `mark`, which is `pauseMs` from now, they are not claimed again.
   */
  takeWaiting(limit: number, pauseMs: number): Promise<{ readonly invoices: readonly Invoice[]; readonly mark: Date }>;
  /** Returns the sums of those of these days on which something was issued, in no particular order. */
  days(owner: Owner, dates: readonly string[]): Promise<DaySums[]>;
}

/** A batch of the documents of a period. */
export interface PeriodBatch<Row> {
  readonly rows: readonly Row[];
  /** Where the next batch begins; null at the end. */
  readonly next: string | null;
}

/**
 * Reads the accepted documents that a tenant issued in a period, selected by date of issue. Every method uses an index.
 */
export interface PeriodDocuments {
  /**
   * Reads the next documents of a kind in the order of their creation, which is that of the service's own numbers.
   * @param after `next` of the batch before; null for the first one
   */
  accepted(owner: Owner, kind: Kind, period: Period, after: string | null): Promise<PeriodBatch<Invoice>>;
  /** Does the same for the files of documents accepted by `until`: later calls find the same documents. */
  filed(
    owner: Owner,
    kind: Kind,
    period: Period,
    until: Date,
    after: string | null,
  ): Promise<PeriodBatch<FiledDocument>>;
}

/**
 * The parts that name the files of an accepted document and find their bytes. `updatedAt` is the time of acceptance.
 */
export type FiledDocument = Pick<
  Invoice,
  'id' | 'kind' | 'createdAt' | 'updatedAt' | 'number' | 'ownNumber' | 'xml' | 'cleared' | 'awaitsCleared' | 'pdf'
>;

/** The formats of a declaration. */
export const DECLARATION_FORMATS = ['xlsx', 'csv'] as const;
export type DeclarationFormat = (typeof DECLARATION_FORMATS)[number];

/**
 * Writes a declaration as a file while its documents are read. Closes `batches` when the file is no longer read.
 * @param title a text about all documents, such as the name of their period
 */
export type WriteDeclaration = (
  format: DeclarationFormat,
  batches: AsyncIterable<readonly DeclaredDocument[]>,
  title: string,
  language: DocumentLanguage,
) => AsyncIterable<Uint8Array>;
