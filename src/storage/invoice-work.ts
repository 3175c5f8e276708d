import type { Collection, Filter } from 'mongodb';
import { ATTENTION_REASONS, MANY_ATTEMPTS, SUSPICIOUS_CLAIMS } from '../domain/invoice/attention.ts';
import { HURRIED_LANE, LIVE_LANES } from '../domain/invoice/lanes.ts';
import type { WaitingInvoices } from '../domain/invoice/repository.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import type { StoreClock } from './store-clock.ts';

/** Finds waiting work of invoices: idle work, and work that needs an operator. */
export function waitingWorkOf(invoices: Collection<InvoiceDocument>, clock: StoreClock): WaitingInvoices {
  /** @param field the first field of the index that finds them, so that the server can count by the index alone */
  async function countUpTo(filter: Filter<InvoiceDocument>, field: string, limit: number): Promise<number> {
    const found = invoices.find(filter).project({ _id: 0, [field]: 1 });
    return (await found.limit(limit).toArray()).length;
  }

  return {
    async needingAttention(limit) {
      const most = async (field: string, filter: object) =>
        invoices
          .find({ [field]: filter } as Filter<InvoiceDocument>)
          .sort({ [field]: -1 })
          .limit(limit)
          .toArray();
      const candidates = await Promise.all([
        most('work.claims', { $gte: SUSPICIOUS_CLAIMS }),
        most('work.attempts', { $gte: MANY_ATTEMPTS }),
        most('work.blocked', { $exists: true }),
      ]);
      const found = new Map(candidates.flat().map((document) => [document._id, document]));
      return [...found.values()].map(invoiceOf);
    },

    async hurry(invoiceId, failedBefore) {
      const now = clock();
      const waiting = { 'work.lane': HURRIED_LANE, 'work.dueAt': { $gt: now }, 'work.since': { $lte: failedBefore } };
      const document = await invoices.findOneAndUpdate(
        { _id: invoiceId, 'work.token': null, $or: [{ 'work.idle': true }, waiting] } as Filter<InvoiceDocument>,
        {
          // `since` gives the job of a waiting attempt another id.
          $set: { 'work.dueAt': now, 'work.since': now, 'work.lane': HURRIED_LANE },
          $unset: { 'work.idle': '' },
        },
        { returnDocument: 'after', hint: { _id: 1 } },
      );
      return document && invoiceOf(document);
    },

    idleCount: (limit) => countUpTo({ 'work.lane': 'idle' }, 'work.lane', limit),

    async unfinishedLive(limit) {
      // By the indexes `queue` and `blocked`, one query for each value of their first field.
      const counts = await Promise.all([
        ...LIVE_LANES.map((lane) => countUpTo({ 'work.lane': lane }, 'work.lane', limit)),
        countUpTo({ 'work.blocked': { $in: [...ATTENTION_REASONS] }, environment: 'live' }, 'work.blocked', limit),
      ]);
      return Math.min(
        limit,
        counts.reduce((sum, count) => sum + count, 0),
      );
    },

    unsignedLive(signers, limit) {
      return countUpTo({ 'work.lane': 'signing', tenantId: { $nin: [...signers] } }, 'work.lane', limit);
    },
  };
}
