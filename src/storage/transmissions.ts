import type { Collection, Db, Filter, UpdateFilter, WithId } from 'mongodb';
import type { LookUpRule, Transmission, TransmissionReader } from '../domain/authority/reconciliation.ts';
import type { LookUpScheduler } from '../domain/authority/take-hint.ts';
import { HOUR_MS } from '../domain/durations.ts';
import type { StoredDocument } from '../domain/invoice/invoice.ts';
import { FINAL_STATUSES } from '../domain/invoice/lifecycle.ts';
import { type InvoiceDocument, invoiceOf } from './invoice-document.ts';
import { KEPT_COLLECTION } from './kept-invoices.ts';
import { storeClock } from './store-clock.ts';

/** The fields of a live invoice that concern the authority. */
type TransmittedDocument = InvoiceDocument & {
  /** The id under which the authority holds the invoice, if it differs from the invoice's own. */
  heldAs?: string | null;
  receipt?: StoredDocument | null;
};

const PROJECTION = {
  tenantId: 1,
  environment: 1,
  heldAs: 1,
  status: 1,
  dgiId: 1,
  updatedAt: 1,
  'events.status': 1,
  'xml.sha256': 1,
  'receipt.file': 1,
};
/** Number of invoices read in one batch of a scan. */
const BATCH = 500;

/** Reads live invoices in the collection `invoices`, for the reconciliation and for hints from the authority. */
export function createTransmissions(db: Db): TransmissionReader & LookUpScheduler {
  const invoices: Collection<TransmittedDocument> = db.collection<TransmittedDocument>('invoices');
  const clock = storeClock(db.client);
  const kept: Collection<TransmittedDocument> = db.collection<TransmittedDocument>(KEPT_COLLECTION);

  /** Also reads the kept invoices of erased tenants, because the authority's ledger contains them. */
  async function read(filter: Filter<TransmittedDocument>): Promise<Transmission[]> {
    const both = await Promise.all(
      [invoices, kept].map((each) => each.find(filter).project<WithId<TransmittedDocument>>(PROJECTION).toArray()),
    );
    const found = both.flat();
    return found.filter(({ environment }) => environment === 'live').map(transmissionOf);
  }

  return {
    async bySubmission(ids) {
      // Two queries, because servers differ in whether a branch of `$or` may use a partial index.
      const found = await Promise.all([read({ _id: { $in: [...ids] } }), read({ heldAs: { $in: [...ids] } })]);
      return [...new Map(found.flat().map((each) => [each.invoiceId, each])).values()];
    },
    byDigest: (digests) => read({ environment: 'live', 'xml.sha256': { $in: [...digests] } }),

    async *decided(from, until) {
      const search = invoices
        .find(
          {
            environment: 'live',
            status: { $in: FINAL_STATUSES },
            updatedAt: { $gte: from, $lte: until },
          } as Filter<TransmittedDocument>,
          { batchSize: BATCH },
        )
        .project<WithId<TransmittedDocument>>(PROJECTION)
        .sort({ updatedAt: 1 });
      let batch: Transmission[] = [];
      for await (const document of search) {
        batch.push(transmissionOf(document));
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },

    async makeLookUpDue(submissionId, rule) {
      const now = clock();
      const rules = mayLookUp(rule, now);
      // A cluster changes one document only by its id (docs/decisions/0052), so the id is looked up. Local, because a
      // majority may not have the latest state yet; the same filter guards the update.
      const other = await invoices.findOne(
        { heldAs: submissionId, ...rules },
        { projection: { _id: 1 }, readConcern: 'local' },
      );
      // Both updates always run, so that the response takes as long for an unknown id.
      const changed = await Promise.all(
        [{ _id: submissionId }, { _id: other?._id ?? submissionId, heldAs: submissionId }].map((held) =>
          invoices.findOneAndUpdate({ ...held, ...rules }, dueAt(now), { returnDocument: 'after' }),
        ),
      );
      const document = changed.find((each) => each !== null);
      if (!document) return null;
      const { id, tenantId, environment, work } = invoiceOf(document);
      return { id, tenantId, environment, work };
    },

    async makeLookUpsDue(invoiceIds, rule) {
      const now = clock();
      const own = { _id: { $in: [...invoiceIds] }, ...mayLookUp(rule, now) };
      return (await invoices.updateMany(own, dueAt(now))).modifiedCount;
    },
  };
}

/**
 * Matches invoices whose look-up may be made due now. Excludes invoices with a token: a worker holds them, and changing
 * when their work is due would end the lease.
 */
function mayLookUp({ quietMs, mostAnHour }: LookUpRule, now: Date): Filter<TransmittedDocument> {
  const since = (ms: number) => new Date(now.getTime() - ms);
  const lookUpAfter = (at: Date) => ({ $elemMatch: { purpose: 'look_up', at: { $gt: at } } });
  const isOfLastHour = {
    $and: [{ $eq: ['$$this.purpose', 'look_up'] }, { $gt: ['$$this.at', since(HOUR_MS)] }],
  };
  const ofLastHour = { $filter: { input: { $ifNull: ['$authorityAttempts', []] }, cond: isOfLastHour } };
  return {
    environment: 'live',
    'work.token': null,
    'work.dueAt': { $gt: now },
    // It waits for an operator.
    'work.blocked': { $exists: false },
    $or: [{ 'work.stage': 'decide' }, { 'work.stage': 'transmit', 'work.outcomeUnknown': true }],
    authorityAttempts: { $not: lookUpAfter(since(quietMs)) },
    $expr: { $lt: [{ $size: ofLastHour }, mostAnHour] },
  } as Filter<TransmittedDocument>;
}

/**
 * The update that makes work due now. The new `since` gives its job another id, so that it does not wait for the
 * existing job.
 */
function dueAt(now: Date): UpdateFilter<TransmittedDocument> {
  return { $set: { 'work.dueAt': now, 'work.since': now } } as UpdateFilter<TransmittedDocument>;
}

function transmissionOf(document: WithId<TransmittedDocument>): Transmission {
  const { _id, tenantId, heldAs, status, events, xml, dgiId, updatedAt, receipt } = document;
  return {
    invoiceId: _id,
    tenantId,
    status,
    dgiId: dgiId ?? null,
    submissionId: heldAs ?? _id,
    wasHeld: events.some((event) => event.status === 'transmitted'),
    sha256: xml?.sha256 ?? null,
    changedAt: updatedAt,
    hasReceipt: Boolean(receipt),
  };
}
