import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { addDays } from '../../calendar-date.ts';
import { CLOCK_SKEW_MS } from '../../durations.ts';
import { later } from '../../later.ts';
import type { Owner } from '../../tenant/tenant.ts';
import type { DocumentDemand } from '../document-demand.ts';
import type { DocumentRange, DocumentStore } from '../document-store.ts';
import type { InvoiceReading } from '../repository.ts';
import { type ArchivePlan, type ArchiveSource, planArchive, readArchive } from './archive.ts';
import type { ArchivedFile } from './archive-files.ts';
import { batchesOf, requireCount } from './export-declaration.ts';
import type { Period } from './period.ts';
import type { FiledDocument, PeriodDocuments, PeriodSums } from './ports.ts';

/** Maximum number of files whose CRC a process remembers, so that a resumed download need not read them again. */
const KNOWN_CRCS = 50_000;

/**
 * Maximum number of documents whose list is kept in memory while their archive is written, about 15 MB. A longer list
 * is read again for each part of the archive.
 */
const KEPT_DOCUMENTS = 20_000;

/** Maximum number of documents of an archive. They are listed within 20 s, before its first byte. */
export const MAX_ARCHIVED = 100_000;

/** Identifies an archive of a period: the documents accepted until `until`, with this digest. */
export type ArchiveVersion = Pick<ArchivePlan, 'until' | 'digest'>;

/** A request for an archive. */
export interface AskedArchive {
  /**
   * The archive that the client has a part of. If it is null or has changed, the archive contains what is accepted now.
   */
  readonly earlier: ArchiveVersion | null;
  /** Whether the archive may lack files that do not exist yet; otherwise they are waited for. */
  readonly mayLack: boolean;
}

/** An archive of the documents of a period. */
export interface Archive extends Pick<ArchivePlan, 'documents' | 'incomplete' | 'size'>, ArchiveVersion {
  /** Whether it may be read: nothing is missing, or the request allows missing files. */
  readonly isReady: boolean;
  /** Makes the bytes, or a part of them, while they are read. The same archive has the same bytes each time. */
  read(range?: DocumentRange): AsyncIterable<Uint8Array>;
}

/**
 * Prepares the archive (ZIP) of the XML and the PDF of every document that was issued in a period and accepted, with a
 * manifest of their digests. Missing files are made; the wait for each is as long as that of a request for a single
 * file.
 * @throws {ServiceError} invalid_request for a period with more than {@link MAX_ARCHIVED} documents
 */
export type ExportArchive = (owner: Owner, period: Period, asked: AskedArchive) => Promise<Archive>;

export interface ExportArchiveParts {
  readonly periodSums: Pick<PeriodSums, 'days'>;
  readonly periodDocuments: Pick<PeriodDocuments, 'filed'>;
  readonly documents: Pick<DocumentStore, 'get'>;
  readonly invoices: Pick<InvoiceReading, 'find'>;
  readonly demand: Pick<DocumentDemand, 'await'>;
  /** The clock of the store. */
  readonly clock: () => Date;
}

export function createExportArchive(parts: ExportArchiveParts): ExportArchive {
  const { periodSums, periodDocuments, documents, invoices, demand, clock } = parts;
  const crcs = new LRUCache<string, number>({ max: KNOWN_CRCS });

  /** @returns whether the file exists now */
  async function waitFor({ documentId, kind }: ArchivedFile): Promise<boolean> {
    const invoice = await invoices.find(documentId);
    return invoice !== null && (await demand.await(invoice, kind)) !== null;
  }

  /** Plans an archive. @param until it contains the documents accepted until then */
  async function laidOut(owner: Owner, period: Period, until: Date) {
    const list = (until: Date) => batchesOf((kind, after) => periodDocuments.filed(owner, kind, period, until, after));
    const source: ArchiveSource = {
      folder: period.name,
      end: new Date(`${addDays(period.through, 1)}T00:00:00Z`),
      list: remembered(list),
      documents,
      crcs,
    };
    return { source, plan: await planArchive(source, until) };
  }

  /** Plans an archive of the documents accepted now, after a while in which missing files are made. */
  async function laidOutNow(owner: Owner, period: Period, mayLack: boolean) {
    const now = clock();
    // The clock of the process that accepted a document may be ahead of the store's.
    const first = await laidOut(owner, period, later(now, CLOCK_SKEW_MS));
    const { until, missing } = first.plan;
    const isAhead = until > now;
    const [made] = await Promise.all([
      Promise.all(mayLack ? [] : missing.map(waitFor)),
      // Waits until no further document can be accepted at a time that the archive covers.
      isAhead && sleep(Math.max(0, until.getTime() - clock().getTime())),
    ]);
    return isAhead || made.includes(true) ? laidOut(owner, period, until) : first;
  }

  return async (owner, period, { earlier, mayLack }) => {
    await requireCount(periodSums, owner, period, MAX_ARCHIVED);
    const isReady = (plan: ArchivePlan) => plan.incomplete === 0 || mayLack;
    const resumed = earlier && (await laidOut(owner, period, earlier.until));
    const isSame = resumed?.plan.digest === earlier?.digest;
    const { source, plan } =
      resumed && isSame && isReady(resumed.plan) ? resumed : await laidOutNow(owner, period, mayLack);
    return { ...plan, isReady: isReady(plan), read: (range) => readArchive(source, plan, range) };
  };
}

/** Caches a list when it has been read to its end, unless it is long. The cached list is the same for every `until`. */
function remembered(list: ArchiveSource['list']): ArchiveSource['list'] {
  let kept: readonly (readonly FiledDocument[])[] | null = null;
  return async function* (until) {
    if (kept) return yield* kept;
    const batches: (readonly FiledDocument[])[] = [];
    let count = 0;
    for await (const batch of list(until)) {
      count += batch.length;
      if (count <= KEPT_DOCUMENTS) batches.push(batch);
      yield batch;
    }
    if (count <= KEPT_DOCUMENTS) kept = batches;
  };
}
