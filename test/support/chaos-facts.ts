import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from 'mongodb';
import { JOBS_COLLECTION } from '../../src/jobs/job-documents.ts';
import { createDocumentStore } from '../../src/storage/documents.ts';
import type { InvoiceDocument } from '../../src/storage/invoice-document.ts';
import { runningStore } from './running-store.ts';

/** The contents of the store of a running service, read through its engine like by any client. */
export interface ChaosFacts {
  readonly invoices: readonly InvoiceDocument[];
  /** SHA-256 of the bytes of each invoice's stored XML, lower-case hex, by the invoice's id. */
  readonly xmlDigests: ReadonlyMap<string, string>;
  /** The first bytes of each invoice's PDF, by the invoice's id. */
  readonly pdfStarts: ReadonlyMap<string, string>;
  /** The mock authority's ledger. */
  readonly submissions: readonly { readonly _id: string; readonly sha256: string }[];
  /** Jobs in Agenda's collection. */
  readonly jobs: number;
}

/** Reads the store as soon as no work is left in it, or when patience ends. */
export async function readFacts(
  dataDir: string,
  { complete, patienceMs }: { complete: boolean; patienceMs: number },
): Promise<ChaosFacts> {
  const { db, close } = await runningStore(dataDir);
  try {
    const end = Date.now() + patienceMs;
    while (Date.now() < end && (await isBusy(db, complete))) await sleep(50);
    return await read(db);
  } finally {
    await close();
  }
}

async function isBusy(db: Db, complete: boolean): Promise<boolean> {
  const invoices = db.collection<InvoiceDocument>('invoices');
  if ((await invoices.countDocuments({ status: { $nin: ['accepted', 'rejected'] } }, { limit: 1 })) > 0) return true;
  if (!complete) return false;
  const jobs = await db.collection(JOBS_COLLECTION).countDocuments({}, { limit: 1 });
  return jobs > 0 || (await invoices.countDocuments({ work: { $exists: true } }, { limit: 1 })) > 0;
}

async function read(db: Db): Promise<ChaosFacts> {
  const documents = createDocumentStore(db);
  const invoices = await db.collection<InvoiceDocument>('invoices').find().toArray();
  const xmlDigests = new Map<string, string>();
  const pdfStarts = new Map<string, string>();
  for (const { _id, xml, pdf } of invoices) {
    if (xml)
      xmlDigests.set(
        _id,
        createHash('sha256')
          .update(await documents.get(xml))
          .digest('hex'),
      );
    if (pdf) pdfStarts.set(_id, Buffer.from((await documents.get(pdf)).subarray(0, 5)).toString());
  }
  return {
    invoices,
    xmlDigests,
    pdfStarts,
    submissions: await db.collection<{ _id: string; sha256: string }>('mock_submissions').find().toArray(),
    jobs: await db.collection(JOBS_COLLECTION).countDocuments(),
  };
}
