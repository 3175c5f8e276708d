import type { Db, Document, Filter } from 'mongodb';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import {
  type Import,
  type ImportCounts,
  type ImportedInvoice,
  NO_COUNTS,
  VERDICT_NAMES,
} from '../domain/imports/import.ts';
import type { ImportedInvoiceStore, ImportedQuery } from '../domain/imports/import-store.ts';
import { isDuplicateKey } from './duplicate-key.ts';
import { insertEach } from './insert-each.ts';
import { readUpTo } from './pages.ts';

interface ImportedDocument extends Omit<ImportedInvoice, 'outcome'> {
  /** `<import> <round> <nth>`, so that an import's invoices are neighbours, in the order of the file. */
  _id: string;
  /** Absent before the authority's decision. */
  outcome?: 'accepted' | 'rejected';
  /** Present while the authority's decision is awaited. */
  awaits?: true;
  expiresAt: Date;
}

type OfImport = Pick<Import, 'id' | 'round'>;

/** Maximum number of documents that one statement removes. */
const REMOVED = 1000;

/** Stores the invoices of files in the collection `import_invoices`. */
export function createImportedInvoiceStore(db: Db): ImportedInvoiceStore {
  const stored = db.collection<ImportedDocument>('import_invoices');

  function read(filter: Filter<ImportedDocument>, isBackwards: boolean, limit: number, maxBytes?: number) {
    // Sorts by `_id` if no index matches the filter. Both orders are the order of the file.
    const order = 'importId' in filter ? { nth: isBackwards ? -1 : 1 } : { _id: isBackwards ? -1 : 1 };
    return readUpTo(stored.find(filter, { raw: true }).sort(order as { nth: 1 }), limit, maxBytes);
  }

  /** Reads the first invoices of each verdict, and returns the first ones of all. */
  async function readVerdicts({ imported, only, after, before, limit, maxBytes = READ_BYTES }: ImportedQuery) {
    const isBackwards = before !== null;
    const nth = { ...(after !== null && { $gt: after }), ...(before !== null && { $lt: before }) };
    const found: ImportedDocument[] = [];
    let [bytes, hasMore] = [0, false];
    for (const verdict of only) {
      const filter = { ...ofRound(imported), verdict, ...(Object.keys(nth).length > 0 && { nth }) };
      const part = await read(filter, isBackwards, limit, maxBytes);
      found.push(...part.found);
      bytes += part.bytes;
      hasMore ||= part.hasMore;
    }
    found.sort((a, b) => (isBackwards ? b.nth - a.nth : a.nth - b.nth));
    return { found: found.slice(0, limit), hasMore: hasMore || found.length > limit, bytes };
  }

  async function readAll({ imported, after, before, limit, maxBytes }: ImportedQuery) {
    const $gt = after === null ? placeOf(imported) : placeOf(imported, after);
    const $lt = before === null ? `${placeOf(imported)}~` : placeOf(imported, before);
    return read({ _id: { $gt, $lt } }, before !== null, limit, maxBytes);
  }

  async function count(query: Document): Promise<number> {
    // Not countDocuments: on some servers its aggregation reads every document.
    return Number((await db.command({ count: stored.collectionName, query })).n);
  }

  return {
    async put(invoices, expiresAt) {
      const documents = invoices.map(({ outcome, ...invoice }): ImportedDocument => {
        const _id = placeOf({ id: invoice.importId, round: invoice.round }, invoice.nth);
        return { _id, ...invoice, ...(outcome && { outcome }), expiresAt };
      });
      // An invoice that already exists was stored for the same row by a worker that has lost its lease.
      for (const outcome of await insertEach(stored, documents))
        if ('error' in outcome && !isDuplicateKey(outcome.error)) throw outcome.error;
    },
    async removeUpTo(importId, round) {
      for (;;) {
        const range = { $gt: `${importId} `, $lt: `${placeOf({ id: importId, round })}~` };
        const found = await stored.find({ _id: range }).project<{ _id: string }>({ _id: 1 }).limit(REMOVED).toArray();
        if (found.length > 0) await stored.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
        if (found.length < REMOVED) return;
      }
    },
    async page(query) {
      const { found, hasMore, bytes } = await (query.only.length > 0 ? readVerdicts(query) : readAll(query));
      return { rows: (query.before === null ? found : found.toReversed()).map(invoiceOf), hasMore, bytes };
    },
    async awaiting(imported, after, limit) {
      const filter = { ...ofRound(imported), awaits: true as const, nth: { $gt: after } };
      return (await stored.find(filter).sort({ nth: 1 }).limit(limit).toArray()).map(invoiceOf);
    },
    async change(imported, changes) {
      if (changes.length === 0) return;
      await stored.bulkWrite(
        changes.map(({ nth, awaits, outcome, ...change }) => {
          const $set = { ...change, ...(outcome && { outcome }), ...(awaits && { awaits: true as const }) };
          const update = { $set, ...(awaits === false && { $unset: { awaits: '' as const } }) };
          return { updateOne: { filter: { _id: placeOf(imported, nth) }, update } };
        }),
        { ordered: false },
      );
    },
    async raws(imported) {
      const range = { $gt: placeOf(imported), $lt: `${placeOf(imported)}~` };
      const found = await stored.find({ _id: range }).project<{ raw: string }>({ _id: 0, raw: 1 }).toArray();
      return new Set(found.map(({ raw }) => raw));
    },
    async counts(imported) {
      const of = ofRound(imported);
      const verdicts: { -readonly [Name in keyof ImportCounts]: number } = { ...NO_COUNTS };
      for (const verdict of VERDICT_NAMES) {
        verdicts[verdict] = await count({ ...of, verdict });
        verdicts.invoices += verdicts[verdict];
      }
      return {
        ...verdicts,
        accepted: await count({ ...of, outcome: 'accepted' }),
        rejected: await count({ ...of, outcome: 'rejected' }),
      };
    },
  };
}

function ofRound({ id, round }: OfImport) {
  return { importId: id, round };
}

/** Returns the id of an invoice in an import; without `nth`, the beginning of all ids of the import's round. */
function placeOf({ id, round }: OfImport, nth?: number): string {
  return `${id} ${String(round).padStart(5, '0')} ${nth === undefined ? '' : String(nth).padStart(6, '0')}`;
}

function invoiceOf({
  _id,
  awaits: _awaits,
  expiresAt: _expiresAt,
  outcome,
  ...invoice
}: ImportedDocument): ImportedInvoice {
  return { ...invoice, outcome: outcome ?? null };
}
