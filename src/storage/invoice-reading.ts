import type { Document } from 'mongodb';
import { CUSTOMER } from '../domain/invoice/customer-fields.ts';
import { customerIdentity } from '../domain/invoice/customer-key.ts';
import { completer } from '../domain/invoice/field-makers.ts';
import type { Customer } from '../domain/invoice/invoice.ts';
import type { KnownCustomer, StatusCounts } from '../domain/invoice/invoice-queries.ts';
import { INVOICE_STATUSES } from '../domain/invoice/lifecycle.ts';
import type { InvoiceReading } from '../domain/invoice/repository.ts';
import { orderAt } from '../domain/order-key.ts';
import { batchedFind } from './batched-find.ts';
import { type InvoiceDocument, invoiceOf, numberOf } from './invoice-document.ts';
import { highestSerial, type NumberedInvoices, numberKey, ownNumberKey } from './invoice-numbers.ts';
import { pageOf } from './invoice-page.ts';
import { numberedPageOf } from './numbered-page.ts';
import { readAll } from './pages.ts';
import { sortedPageOf } from './sorted-page.ts';

/** The stored fields of a `CreatedInvoice`. */
const OF_CREATION = {
  _id: 1,
  withheld: 1,
  status: 1,
  createdAt: 1,
  idempotency: 1,
  ownNumber: 1,
  series: 1,
  replacedBy: 1,
} as const;

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

    async creationsOf(invoiceIds) {
      const found = invoices.find({ _id: { $in: [...invoiceIds] } });
      const rows = await found.project<Pick<InvoiceDocument, keyof typeof OF_CREATION>>(OF_CREATION).toArray();
      return new Map(
        rows.flatMap(({ _id, withheld, status, createdAt, replacedBy = null, idempotency, ...numbered }) =>
          withheld
            ? []
            : [[_id, { status, createdAt, replacedBy, number: numberOf(numbered), mark: idempotency ?? null }]],
        ),
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
      // A number that was just taken may not be written to its invoice yet.
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

    page: (query) => pageOf(invoices, query),
    sortedPage: (query) => sortedPageOf(invoices, query),
    numberedPage: (query) => numberedPageOf(stores, query),

    async customers({ tenantId, environment, field, prefix, limit }) {
      const path = SEARCHED[field];
      // Jumps from each value to the next one in the index, however many invoices have the same value.
      const found: KnownCustomer[] = [];
      let beyond: Document = { $gte: prefix };
      while (found.length < limit) {
        const [first, ...others] = await invoices
          .find({ tenantId, environment, kind: 'invoice', [path]: { ...beyond, $lt: `${prefix}${LAST_CHARACTER}` } })
          .sort({ [path]: 1, order: -1 })
          .project<Pick<InvoiceDocument, 'customer' | 'customerKey'>>({ customer: 1, customerKey: 1 })
          .limit(field === 'ice' ? 1 : NEWEST_OF_NAME)
          .toArray();
        if (!first) break;
        const named = [first, ...others.filter(({ customerKey }) => customerKey === first.customerKey)];
        const distinct = Map.groupBy(
          named.map(({ customer }) => completeCustomer(customer as Customer)),
          customerIdentity,
        );
        found.push(...[...distinct.values()].flatMap(([newest]) => newest ?? []));
        beyond = { $gt: field === 'ice' ? first.customer.ice : first.customerKey };
      }
      return found.slice(0, limit);
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

/** Number of the newest invoices with a name that are read, because several customers may have the name. */
const NEWEST_OF_NAME = 10;
const completeCustomer = completer(CUSTOMER);

/** The indexed fields of the searched values. */
const SEARCHED = { ice: 'customer.ice', name: 'customerKey' } as const;
/** Sorts behind every other character. */
const LAST_CHARACTER = '\u{10FFFF}';
