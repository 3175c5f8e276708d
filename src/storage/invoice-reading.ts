import type { Filter } from 'mongodb';
import type { InvoicePageQuery, InvoiceRepository } from '../domain/invoice/repository.ts';
import { batchedFind } from './batched-find.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { highestSerial, type NumberedInvoices, numberKey, ownNumberKey } from './invoice-numbers.ts';
import { anyBehind, orderRange, readAll, readUpTo } from './pages.ts';

type Reading = Pick<
  InvoiceRepository,
  'find' | 'findMany' | 'findByNumber' | 'findByOwnNumber' | 'orderOf' | 'page' | 'highestSerial'
>;

/** Reads invoices: one by its id or number, several, or a page of the list. */
export function readingOf(stores: NumberedInvoices): Reading {
  const { invoices, numbers } = stores;
  return {
    find: batchedFind(invoices, invoiceOf),

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
      const cursor = invoices.find(pageFilter(query), { raw: true }).sort({ order: newestFirst ? -1 : 1 });
      const { found, hasMore, bytes } = await readUpTo(cursor, query.limit, query.maxBytes);
      const page = found.map(invoiceOf);
      const { cursor: place, createdFrom: from, createdUntil: until } = query;
      const hasOthers = () => anyBehind(invoices, ownFilter(query), { cursor: place, from, until });
      return { invoices: newestFirst ? page : page.reverse(), hasMore, hasOthers, bytes };
    },

    highestSerial: (tenantId, environment, year) => highestSerial(stores, { tenantId, environment }, year),
  };
}

function pageFilter(query: InvoicePageQuery): Filter<InvoiceDocument> {
  const order = orderRange({ cursor: query.cursor, from: query.createdFrom, until: query.createdUntil });
  return { ...ownFilter(query), ...(order && { order }) };
}

function ownFilter({ tenantId, environment, status }: InvoicePageQuery): Filter<InvoiceDocument> {
  return { tenantId, environment, ...(status !== null && { status }) };
}
