import { LRUCache } from 'lru-cache';
import { addDays } from '../../calendar-date.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { DocumentDemand } from '../document-demand.ts';
import type { DocumentRange, DocumentStore } from '../document-store.ts';
import type { InvoiceReading } from '../repository.ts';
import { type ArchivePlan, type ArchiveSource, planArchive, readArchive } from './archive.ts';
import type { ArchivedFile } from './archive-files.ts';
import { batchesOf } from './export-declaration.ts';
import type { Period } from './period.ts';
import type { FiledDocument, PeriodDocuments } from './ports.ts';

/** Maximum number of files whose CRC a process remembers, so that a resumed download need not read them again. */
const KNOWN_CRCS = 50_000;

/**
 * Maximum number of documents whose list is kept while their archive is written, about 15 MB. A longer one is read for
 * each part of the archive.
 */
const KEPT_DOCUMENTS = 20_000;

/** What an archive is asked for as. */
export interface AskedArchive {
  /** Has what was accepted until then: now, or the time of an earlier answer that is resumed. */
  readonly until: Date;
  /** Whether files that do not exist yet may be missing; otherwise they are waited for. */
  readonly mayLack: boolean;
}

/** An archive of the documents of a period. */
export interface Archive extends Pick<ArchivePlan, 'documents' | 'incomplete' | 'size' | 'digest'> {
  /** Whether it may be read: nothing is missing, or it was asked for like that. */
  readonly isReady: boolean;
  /** Makes the bytes, or a part of them, as they are read. The same archive has the same bytes each time. */
  read(range?: DocumentRange): AsyncIterable<Uint8Array>;
}

/**
 * Prepares the archive (ZIP) of the XML and the PDF of every document that was issued in a period and accepted, with a
 * manifest of their digests. Files that do not exist yet are made, for which it waits as long as a request for one of
 * them.
 */
export type ExportArchive = (owner: Owner, period: Period, asked: AskedArchive) => Promise<Archive>;

export function createExportArchive(
  periodDocuments: Pick<PeriodDocuments, 'filed'>,
  documents: Pick<DocumentStore, 'get'>,
  invoices: Pick<InvoiceReading, 'find'>,
  demand: Pick<DocumentDemand, 'await'>,
): ExportArchive {
  const crcs = new LRUCache<string, number>({ max: KNOWN_CRCS });

  async function waitFor({ documentId, kind }: ArchivedFile): Promise<void> {
    const invoice = await invoices.find(documentId);
    if (invoice) await demand.await(invoice, kind);
  }

  return async (owner, period, { until, mayLack }) => {
    const list = () => batchesOf((kind, after) => periodDocuments.filed(owner, kind, period, until, after));
    const read = () => ({
      folder: period.name,
      end: new Date(`${addDays(period.through, 1)}T00:00:00Z`),
      list: remembered(list),
      documents,
      crcs,
    });
    let source = read();
    let plan = await planArchive(source);
    if (plan.incomplete > 0 && !mayLack) {
      await Promise.all(plan.missing.map(waitFor));
      source = read();
      plan = await planArchive(source);
    }
    const isReady = plan.incomplete === 0 || mayLack;
    return { ...plan, isReady, read: (range) => readArchive(source, plan, range) };
  };
}

/** Keeps a list that was read to its end, unless it is long. */
function remembered(list: ArchiveSource['list']): ArchiveSource['list'] {
  let kept: readonly (readonly FiledDocument[])[] | null = null;
  return async function* () {
    if (kept) return yield* kept;
    const batches: (readonly FiledDocument[])[] = [];
    let count = 0;
    for await (const batch of list()) {
      count += batch.length;
      if (count <= KEPT_DOCUMENTS) batches.push(batch);
      yield batch;
    }
    if (count <= KEPT_DOCUMENTS) kept = batches;
  };
}
