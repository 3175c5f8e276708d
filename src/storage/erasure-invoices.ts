import type { Collection, Filter } from 'mongodb';
import { KIND_NAMES, type Kind } from '../domain/invoice/kinds.ts';
import { isFinal } from '../domain/invoice/lifecycle.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import type { ErasureStore } from '../domain/tenant-data/erasure.ts';
import { insertNew } from './insert-new.ts';
import type { InvoiceDocument } from './invoice-document.ts';
import { type NumberDocument, ownNumberKey, seriesKey } from './invoice-numbers.ts';
import { KEPT_PROJECTION, type KeptDocument, keptDocument, keptOf } from './kept-invoices.ts';
import { type FileCollections, fileNames, removeFiles } from './stored-files.ts';

export interface InvoiceCollections {
  readonly invoices: Collection<InvoiceDocument>;
  readonly kept: Collection<KeptDocument>;
  readonly numbers: Collection<NumberDocument>;
  /** The collections of the mock authority. Their `_id`s are ids of submissions. */
  readonly mock: readonly Collection<{ _id: string }>[];
  readonly ledger: Collection<{ _id: string }>;
  readonly tenants: Collection<{ _id: string }>;
  readonly stored: FileCollections;
}

type Numbered = Pick<InvoiceDocument, '_id' | 'tenantId' | 'environment' | 'series' | 'ownNumber' | 'heldAs'>;
const NUMBERED = { tenantId: 1, environment: 1, series: 1, ownNumber: 1, heldAs: 1 } as const;

/** The operations on the invoices of a tenant that is being erased. */
export function erasableInvoices({ invoices, kept, numbers, mock, ledger, tenants, stored }: InvoiceCollections) {
  const among = (ids: readonly string[]) => ({ _id: { $in: [...ids] } });
  /** Matches the invoices among `ids` without work. No worker changes these. */
  const idle = (ids: readonly string[]) => ({ ...among(ids), work: null }) as unknown as Filter<InvoiceDocument>;

  async function removeNumbered(documents: readonly Numbered[]): Promise<void> {
    await removeFiles(stored, fileNames(documents.map(({ _id }) => _id)));
    const keys = documents.flatMap((each) => [
      ...(each.ownNumber === undefined ? [] : [ownNumberKey(each, each.ownNumber)]),
      ...(each.series ? [seriesKey(each, each.series)] : []),
    ]);
    if (keys.length > 0) await numbers.deleteMany(among(keys));
  }

  function newestOfKind(
    kind: Kind,
    { tenantId, environment }: Owner,
    before: string | null,
    limit: number,
  ): Promise<InvoiceDocument[]> {
    return invoices
      .find({ tenantId, environment, kind, ...(before !== null && { order: { $lt: before } }) })
      .project<InvoiceDocument>({
        order: 1,
        status: 1,
        withheld: 1,
        'work.stage': 1,
        'series.serial': 1,
        ownNumber: 1,
        'xml.file': 1,
      })
      .sort({ order: -1 })
      .limit(limit)
      .toArray();
  }

  return {
    async invoices(owner, before, limit) {
      // A query for each kind, because the index has the order within a kind.
      const found = await Promise.all(KIND_NAMES.map((kind) => newestOfKind(kind, owner, before, limit)));
      const newest = found.flat().sort((a, b) => (a.order < b.order ? 1 : -1));
      return newest.slice(0, limit).map(({ _id, order, status, work, withheld, series, ownNumber, xml }) => ({
        id: _id,
        order,
        isDecided: isFinal(status),
        stage: work?.stage ?? null,
        withheldAt: withheld ?? null,
        isIssued: Boolean(series ?? ownNumber ?? xml),
      }));
    },
    async withhold(invoiceIds, at) {
      await invoices.updateMany(among(invoiceIds), { $set: { withheld: at } });
    },
    async detach(invoiceIds, stages, at) {
      const stage = stages === null ? { $exists: true } : { $in: [...stages] };
      const working = { ...among(invoiceIds), 'work.stage': stage } as Filter<InvoiceDocument>;
      // Without a hint, a server may choose an index on `work`, which covers all tenants.
      const hint = { _id: 1 } as const;
      await invoices.updateMany(
        working,
        { $set: { withheld: at }, $unset: { work: '', outbox: '', unsummed: '' } },
        { hint },
      );
    },
    async keepLegal(invoiceIds, retentionYears) {
      const found = await invoices
        .find(idle(invoiceIds), { hint: { _id: 1 } })
        .project<InvoiceDocument>(KEPT_PROJECTION)
        .toArray();
      await insertNew(
        kept,
        found.map((each) => keptDocument(each, retentionYears)),
      );
      await invoices.deleteMany(idle(found.map(({ _id }) => _id)), { hint: { _id: 1 } });
    },
    async removePdfs(tenantId, limit) {
      const found = await kept
        .find({ tenantId, 'pdf.file': { $exists: true } } as Filter<KeptDocument>)
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      const ids = found.map(({ _id }) => _id);
      await removeFiles(
        stored,
        fileNames(ids, (suffix) => suffix === 'pdf'),
      );
      if (ids.length > 0) await kept.updateMany(among(ids), { $set: { pdf: null } });
      return ids.length;
    },
    async removeInvoices({ tenantId, environment }, invoiceIds) {
      const own = { ...idle(invoiceIds), tenantId, environment } as Filter<InvoiceDocument>;
      const found = await invoices
        .find(own, { hint: { _id: 1 } })
        .project<InvoiceDocument>(NUMBERED)
        .toArray();
      const ids = found.map(({ _id }) => _id);
      await removeNumbered(found);
      const submissions = [...ids, ...found.flatMap(({ heldAs }) => heldAs ?? [])];
      for (const each of mock) await each.deleteMany(among(submissions));
      await invoices.deleteMany(idle(ids), { hint: { _id: 1 } });
    },
    async removeNumbers(tenantId, environment, limit) {
      const prefix = `${tenantId} ${environment}`;
      const found = await numbers
        .find({ _id: { $gte: `${prefix} `, $lt: `${prefix}!` } })
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length > 0) await numbers.deleteMany(among(found.map(({ _id }) => _id)));
      return found.length;
    },
    async expired({ year, retentionYears }, limit) {
      const over = { keptThrough: { $lt: year }, issueYear: { $lt: year - retentionYears } };
      return (await kept.find(over).limit(limit).toArray()).map(keptOf);
    },
    async removeExpired(invoiceIds) {
      const found = await kept.find(among(invoiceIds)).project<Numbered>(NUMBERED).toArray();
      const tenantIds = [...new Set(found.map(({ tenantId }) => tenantId))];
      // Set first: after a crash the erasure of these tenants is resumed and removes the rest.
      await tenants.updateMany(among(tenantIds), { $set: { 'erasure.pending': true } as never });
      await removeNumbered(found);
      await ledger.deleteMany(among(found.flatMap(({ _id, heldAs }) => [_id, ...(heldAs ? [heldAs] : [])])));
      await kept.deleteMany(among(found.map(({ _id }) => _id)));
    },
    async kept(tenantId, after, limit) {
      const found = await kept
        .find({ tenantId, ...(after !== null && { _id: { $gt: after } }) })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(keptOf);
    },
  } satisfies Partial<ErasureStore>;
}
