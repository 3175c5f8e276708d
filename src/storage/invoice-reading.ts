import type { Document, Filter } from 'mongodb';
import { INVOICE_STATUSES } from '../domain/invoice/lifecycle.ts';
import type {
  InvoiceMatch,
  InvoicePageQuery,
  InvoiceReading,
  KnownCustomer,
  StatusCounts,
} from '../domain/invoice/repository.ts';
import { orderAt } from '../domain/order-key.ts';
import { batchedFind } from './batched-find.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { highestSerial, type NumberedInvoices, numberKey, ownNumberKey } from './invoice-numbers.ts';
import { anyBehind, newestOf, orderRange, readAll, readUpTo, upTo } from './pages.ts';

/** Reads invoices: one by its id or number, several, or a page of the list. */
export function readingOf(stores: NumberedInvoices): InvoiceReading {
  const { invoices, numbers } = stores;
  return {
    find: batchedFind(invoices, (document) => (document.withheld ? null : invoiceOf(document))),

    async tenantsOf(invoiceIds) {
      const found = invoices.find({ _id: { $in: [...invoiceIds] } });
      const rows = found.project<Pick<InvoiceDocument, '_id' | 'tenantId' | 'withheld'>>({ tenantId: 1, withheld: 1 });
      return new Map(
        (await rows.toArray()).flatMap(({ _id, tenantId, withheld }) => (withheld ? [] : [[_id, tenantId]])),
      );
    },

    async findEvenWithheld(invoiceId) {
      const document = await invoices.findOne({ _id: invoiceId });
      return document && invoiceOf(document);
    },

    async findMany(tenantId, environment, invoiceIds, maxBytes) {
      // Filters by id only: with the tenant in the filter, some servers would scan all invoices of the tenant.
      const search = invoices.find({ _id: { $in: [...invoiceIds] } }, { raw: true });
      const { found, bytes } = await readAll(search, invoiceIds.length, maxBytes);
      const own = found.map(invoiceOf).filter((each) => each.tenantId === tenantId && each.environment === environment);
      return { invoices: own, bytes };
    },

    async findByNumber(tenantId, environment, number) {
      const taken = await numbers.findOne({ _id: numberKey({ tenantId, environment }, number) });
      const document = taken && (await invoices.findOne({ _id: taken.invoiceId }));
      const invoice = document && invoiceOf(document);
      // A number that was taken just now may not be written yet.
      return invoice?.number === number ? invoice : null;
    },

    async findByOwnNumber(tenantId, environment, ownNumber) {
      const taken = await numbers.findOne({ _id: ownNumberKey({ tenantId, environment }, ownNumber) });
      return taken?.invoiceId ?? null;
    },

    async orderOf(tenantId, environment, invoiceId) {
      // Filters by id only: with the tenant in the filter, some servers would scan all invoices of the tenant.
      const projection = { order: 1, tenantId: 1, environment: 1 } as const;
      const document = await invoices.findOne({ _id: invoiceId }, { projection });
      return document?.tenantId === tenantId && document.environment === environment ? document.order : null;
    },

    async page(query) {
      const newestFirst = query.cursor?.direction !== 'before';
      const own = { ...ownFilter(query), ...createdWithin(query) } as Filter<InvoiceDocument>;
      const { createdFrom: from, createdUntil } = query;
      const range = { cursor: query.cursor, from, until: createdUntil && createdUntil + MOST_RAISED_MS };
      const newest = await newestOf(invoices, own, range);
      const hasOthers = () => anyBehind(invoices, own, range);
      if (newest === null && !newestFirst) return { invoices: [], hasMore: false, hasOthers, bytes: 0 };
      const order = upTo(newest, orderRange(range));
      const filter = { ...own, ...(order && { order }) } as Filter<InvoiceDocument>;
      const cursor = invoices.find(filter, { raw: true }).sort({ order: newestFirst ? -1 : 1 });
      const { found, hasMore, bytes } = await readUpTo(cursor, query.limit, query.maxBytes);
      const page = found.map(invoiceOf);
      return { invoices: newestFirst ? page : page.reverse(), hasMore, hasOthers, bytes };
    },

    async customers({ tenantId, environment, field, prefix, limit }) {
      const path = SEARCHED[field];
      // Jumps from each value to the next one in the index, however many invoices have the same.
      const found: KnownCustomer[] = [];
      let beyond: Document = { $gte: prefix };
      while (found.length < limit) {
        const next = await invoices
          .find({ tenantId, environment, kind: 'invoice', [path]: { ...beyond, $lt: `${prefix}${LAST_CHARACTER}` } })
          .sort({ [path]: 1, order: -1 })
          .project<Pick<InvoiceDocument, 'customer' | 'customerKey'>>({ customer: 1, customerKey: 1 })
          .limit(1)
          .next();
        if (!next) break;
        found.push({ name: next.customer.name, ice: next.customer.ice });
        beyond = { $gt: field === 'ice' ? next.customer.ice : next.customerKey };
      }
      return found;
    },

    async countByStatus({ tenantId, environment, from, until }) {
      const order = { $gte: orderAt(from), $lt: orderAt(until) };
      const counts = INVOICE_STATUSES.map(async (status) => {
        // Not countDocuments, whose aggregation reads each document on some servers.
        const { n } = await invoices.db.command({
          count: invoices.collectionName,
          query: { tenantId, environment, kind: 'invoice', status, order },
        });
        return [status, Number(n)] as const;
      });
      return Object.fromEntries(await Promise.all(counts)) as StatusCounts;
    },

    async seriesNumbersOf(invoiceIds) {
      const found = invoices.find({ _id: { $in: [...invoiceIds] } }, { hint: { _id: 1 } });
      const rows = await found.project<Pick<InvoiceDocument, '_id' | 'series'>>({ series: 1 }).toArray();
      return new Map(rows.flatMap(({ _id, series }) => (series ? [[_id, series] as const] : [])));
    },

    async awaitingNumber(tenantId, environment, series, limit) {
      const found = await invoices
        .find({ tenantId, environment, awaitsNumber: series, status: 'pending' }, { hint: 'in_line' })
        .project<{ _id: string; order: string }>({ order: 1 })
        .sort({ order: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id, order }) => ({ invoiceId: _id, order }));
    },

    highestSerial: (tenantId, environment, series) => highestSerial(stores, { tenantId, environment }, series),
  };
}

/** The indexed field of what is searched. */
const SEARCHED = { ice: 'customer.ice', name: 'customerKey' } as const;
/** Sorts behind every other character. */
const LAST_CHARACTER = '\u{10FFFF}';

/** How far the key of an invoice may be after its time of creation so that filters by time are exact, milliseconds. */
const MOST_RAISED_MS = 60_000;

/**
 * Returns the condition on the time of creation. It is combined with a range of keys, by which an index finds the
 * invoices. The key of an invoice is never before its creation; it is later if clocks of other processes are ahead. An
 * invoice whose key is more than a minute after its creation counts as created one minute before its key. So each
 * invoice is in exactly one of two consecutive periods.
 */
function createdWithin({ createdFrom, createdUntil }: InvoicePageQuery): Document {
  return {
    ...(createdUntil !== null && { createdAt: { $lt: new Date(createdUntil) } }),
    ...(createdFrom !== null && {
      $nor: [{ createdAt: { $lt: new Date(createdFrom) }, order: { $lt: orderAt(createdFrom + MOST_RAISED_MS) } }],
    }),
  };
}

function ownFilter({ tenantId, environment, kind, status, match }: InvoicePageQuery): Filter<InvoiceDocument> {
  return { tenantId, environment, kind, ...(status !== null && { status }), ...(match && matchFilter(match)) };
}

function matchFilter(match: InvoiceMatch): Filter<InvoiceDocument> {
  return 'customerIce' in match ? { 'customer.ice': match.customerIce } : match;
}
