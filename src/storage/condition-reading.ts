import type { Db } from 'mongodb';
import type { Subject } from '../domain/conditions/condition.ts';
import type { ConditionReading } from '../domain/conditions/tenant-conditions.ts';
import { KIND_NAMES } from '../domain/invoice/kinds.ts';
import { FINAL_STATUSES, INVOICE_STATUSES, type InvoiceStatus } from '../domain/invoice/lifecycle.ts';
import { legalNumber } from '../domain/invoice/series-number.ts';
import { orderAt } from '../domain/order-key.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import type { InvoiceDocument } from './invoice-document.ts';

type FoundInvoice = Pick<
  InvoiceDocument,
  '_id' | 'ownNumber' | 'series' | 'createdAt' | 'updatedAt' | 'replacedBy' | 'withheld'
>;

const SHOWN = { ownNumber: 1, series: 1, createdAt: 1, updatedAt: 1, replacedBy: 1, withheld: 1 } as const;
const OPEN = INVOICE_STATUSES.filter((status) => !FINAL_STATUSES.includes(status));

/** Finds the invoices and drafts that conditions are about, by the indexes of their lists. */
export function createConditionReading(db: Db): ConditionReading {
  const invoices = db.collection<InvoiceDocument>('invoices');
  const drafts = db.collection<{ _id: string; order: string; updatedAt: Date }>('drafts');

  /** Reads up to `limit` documents of each kind with each of these statuses. */
  async function withStatus(
    owner: Owner,
    statuses: readonly InvoiceStatus[],
    order: { readonly $gte: string } | { readonly $lt: string },
    limit: number,
  ): Promise<FoundInvoice[]> {
    const direction = '$gte' in order ? -1 : 1;
    const each = KIND_NAMES.flatMap((kind) =>
      statuses.map((status) =>
        invoices
          .find({ tenantId: owner.tenantId, environment: owner.environment, kind, status, order })
          .project<FoundInvoice>(SHOWN)
          .sort({ order: direction })
          .limit(limit)
          .toArray(),
      ),
    );
    return (await Promise.all(each)).flat().filter(({ withheld }) => !withheld);
  }

  return {
    async rejected(owner, from, limit) {
      const found = await withStatus(owner, ['rejected'], { $gte: orderAt(from) }, limit);
      return found
        .filter(({ replacedBy }) => !replacedBy)
        .map((invoice) => subjectOf(invoice, invoice.updatedAt))
        .sort(newestFirst)
        .slice(0, limit);
    },
    async waiting(owner, until, limit) {
      const found = await withStatus(owner, OPEN, { $lt: orderAt(until) }, limit);
      return found
        .map((invoice) => subjectOf(invoice, invoice.createdAt))
        .sort((a, b) => newestFirst(b, a))
        .slice(0, limit);
    },
    async idleDrafts({ tenantId, environment }, until, limit) {
      // The last change of a draft is not before its creation, so drafts created since `until` need not be read.
      const found = await drafts
        .find({ tenantId, environment, order: { $lt: orderAt(until) } })
        .project<{ _id: string; updatedAt: Date }>({ updatedAt: 1 })
        .sort({ order: 1 })
        .limit(limit)
        .toArray();
      return found
        .filter(({ updatedAt }) => updatedAt.getTime() < until)
        .map(({ _id: id, updatedAt }) => ({ id, name: null, since: updatedAt }));
    },
  };
}

function subjectOf({ _id, ownNumber, series }: FoundInvoice, since: Date): Subject {
  return { id: _id, name: ownNumber ?? (series ? legalNumber(series) : null), since };
}

function newestFirst(a: Subject, b: Subject): number {
  return (b.since?.getTime() ?? 0) - (a.since?.getTime() ?? 0);
}
