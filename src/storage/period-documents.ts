import type { Db, Document, Filter } from 'mongodb';
import { addDays } from '../domain/calendar-date.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { Kind } from '../domain/invoice/kinds.ts';
import type { Period } from '../domain/invoice/periods/period.ts';
import type { FiledDocument, PeriodDocuments } from '../domain/invoice/periods/ports.ts';
import { legalNumber } from '../domain/invoice/series-number.ts';
import { startOfMoroccanDay } from '../domain/morocco/time.ts';
import { orderAt } from '../domain/order-key.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { readUpTo } from './pages.ts';

/** Maximum number of documents of a batch, whole or only with the fields of their files, and of their stored bytes. */
const BATCH = { documents: 200, files: 500, bytes: 1024 * 1024 } as const;

/** Reads the documents of periods from the collection `invoices`, by the index `list_by_status`. */
export function createPeriodDocuments(db: Db): PeriodDocuments {
  const invoices = db.collection<InvoiceDocument>('invoices');
  return {
    async accepted(owner, kind, period, after) {
      const cursor = invoices
        .find(acceptedIn(owner, kind, period, after), { raw: true })
        .project<InvoiceDocument>({ searchTerms: 0 })
        .sort({ order: 1 });
      // Each batch has its own query, so that a slow reader holds no cursor.
      const { found, hasMore } = await readUpTo(cursor, BATCH.documents, BATCH.bytes);
      return { rows: found.map(invoiceOf), next: hasMore ? (found.at(-1)?.order ?? null) : null };
    },

    async filed(owner, kind, period, until, after) {
      const filter = { ...acceptedIn(owner, kind, period, after), updatedAt: { $lte: until } };
      const cursor = invoices.find(filter, { raw: true }).project<Filed>(FILED).sort({ order: 1 });
      const { found, hasMore } = await readUpTo(cursor, BATCH.files, BATCH.bytes);
      return { rows: found.map(filedOf), next: hasMore ? (found.at(-1)?.order ?? null) : null };
    },
  };
}

/** The fields of a document that name and find its files. */
type Filed = Pick<
  InvoiceDocument,
  | '_id'
  | 'kind'
  | 'createdAt'
  | 'updatedAt'
  | 'ownNumber'
  | 'series'
  | 'xml'
  | 'cleared'
  | 'awaitsCleared'
  | 'pdf'
  | 'order'
>;
const FILED = {
  kind: 1,
  createdAt: 1,
  updatedAt: 1,
  ownNumber: 1,
  series: 1,
  xml: 1,
  cleared: 1,
  awaitsCleared: 1,
  pdf: 1,
  order: 1,
} as const satisfies Record<Exclude<keyof Filed, '_id'>, 1>;

function filedOf(stored: Filed): FiledDocument {
  const { _id: id, kind, createdAt, updatedAt, series, xml, pdf } = stored;
  const ownNumber = stored.ownNumber ?? null;
  return {
    id,
    kind,
    createdAt,
    updatedAt,
    ownNumber,
    xml,
    pdf,
    number: ownNumber ?? (series ? legalNumber(series) : null),
    cleared: stored.cleared ?? null,
    awaitsCleared: stored.awaitsCleared ?? false,
  };
}

/**
 * Returns the condition on the accepted documents of a kind. The index finds them by their keys. A key is never before
 * the creation, but may be after it if the clocks of processes differ; one day is a sufficient margin.
 */
function acceptedIn(
  { tenantId, environment }: Owner,
  kind: Kind,
  { from, through }: Period,
  after: string | null,
): Filter<InvoiceDocument> {
  const [start, end] = [startOfMoroccanDay(from), startOfMoroccanDay(addDays(through, 1))];
  const order: Document = {
    $lt: orderAt(end + DAY_MS),
    ...(after === null ? { $gte: orderAt(start) } : { $gt: after }),
  };
  const createdAt = { $gte: new Date(start), $lt: new Date(end) };
  return { tenantId, environment, kind, status: 'accepted', order, createdAt } as Filter<InvoiceDocument>;
}
