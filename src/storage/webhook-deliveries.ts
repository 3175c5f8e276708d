import { randomUUID } from 'node:crypto';
import type { AnyBulkWriteOperation, Db, Filter } from 'mongodb';
import type { PageQuery } from '../domain/page.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import {
  type ClaimedDelivery,
  DELIVERY_STATES,
  type Delivery,
  type DeliverySummary,
  earlierDeliveries,
  KEPT_ATTEMPTS,
  MOST_DELIVERIES,
} from '../domain/webhook/delivery.ts';
import type { AttemptRecord, DeliveryFilter, DeliveryLedger } from '../domain/webhook/ports.ts';
import { insertNew } from './insert-new.ts';
import { readAll, readPage } from './pages.ts';

export interface DeliveryDocument extends Omit<Delivery, 'id' | 'nextAttemptAt'> {
  _id: string;
  /** Absent from what is settled. */
  work?: DeliveryWork | undefined;
  /** When the row is deleted. */
  expiresAt: Date;
}

interface DeliveryWork {
  /** Of the process that holds the lease; null when nobody does. */
  token: string | null;
  /** Failed attempts of this round of the schedule. */
  tries: number;
  /** Whether it waits in the line of retries, behind first attempts. */
  retry: boolean;
  /** Present while it is sent by hand. */
  manual?: true;
  /** From when on it may be claimed; absent while it is leased. */
  readyAt?: Date;
  /** When the sweep looks at it: some time after `readyAt`, or when the lease has ended. */
  sweepAt: Date;
}

/** How long after it is ready the sweep looks for a new delivery that waits behind a full queue, milliseconds. */
const CLAIM_GRACE_MS = 30_000;
/** The same for a retry, whose job may be lost. */
const RETRY_GRACE_MS = 2000;
/** How long after its end the sweep looks for a lease, whose worker died. */
const LEASE_GRACE_MS = 250;

/** The ledger of deliveries in the collection `webhook_deliveries`. @param retentionMs how long deliveries are kept */
export function createDeliveryLedger(db: Db, retentionMs: number): DeliveryLedger {
  const deliveries = db.collection<DeliveryDocument>('webhook_deliveries');

  return {
    insert(rows, now) {
      const documents = rows.map(({ delivery, lease, manual }) => ({
        ...documentOf(delivery, later(now, retentionMs)),
        work: {
          token: lease?.token ?? null,
          tries: 0,
          retry: false,
          ...(manual && { manual }),
          ...(lease
            ? { sweepAt: new Date(lease.end + LEASE_GRACE_MS) }
            : { readyAt: now, sweepAt: later(now, CLAIM_GRACE_MS) }),
        },
      }));
      return insertNew(deliveries, documents);
    },

    async claim(endpointId, { limit, retries, leaseMs, now }) {
      const due = { 'work.retry': retries, 'work.readyAt': { $lte: now } };
      const found = await deliveries
        .find({ endpointId, ...due })
        .project<{ _id: string }>({ _id: 1 })
        .sort({ 'work.readyAt': 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return [];
      const ids = { $in: found.map(({ _id }) => _id) };
      const token = randomUUID();
      const end = now.getTime() + leaseMs;
      await deliveries.updateMany(
        { _id: ids, ...due },
        {
          $set: { 'work.token': token, 'work.sweepAt': new Date(end + LEASE_GRACE_MS) },
          $unset: { 'work.readyAt': '' },
        },
      );
      // Another process may have taken some of them.
      const taken = deliveries
        .find({ _id: ids, 'work.token': token })
        .project<Omit<DeliveryDocument, 'attempts'>>({ attempts: 0 });
      return (await taken.toArray()).map((document) => claimOf(document, token, end));
    },

    async unattemptedBefore(claims) {
      const ids = [...new Set(claims.flatMap(earlierDeliveries))];
      if (ids.length === 0) return new Map();
      const found = deliveries.find({ _id: { $in: ids }, 'work.retry': false }).project<{ _id: string }>({ _id: 1 });
      const unattempted = new Set((await found.toArray()).map(({ _id }) => _id));
      return new Map(
        claims
          .map((claim) => [claim.id, earlierDeliveries(claim).filter((id) => unattempted.has(id))] as const)
          .filter(([, earlier]) => earlier.length > 0),
      );
    },

    async release(claims, at) {
      const lease = { 'work.token': null, 'work.readyAt': at, 'work.sweepAt': later(at, RETRY_GRACE_MS) };
      await bulk(claims.map((claim) => ({ updateOne: { filter: heldBy(claim), update: { $set: lease } } })));
    },

    async record(records) {
      await bulk(records.flatMap(updatesOf));
    },

    async cancel(claims) {
      const update = { $set: { state: 'cancelled' as const }, $unset: { work: '' as const } };
      await bulk(claims.map((claim) => ({ updateOne: { filter: heldBy(claim), update } })));
    },

    async cancelPending(endpointId, limit) {
      const found = await deliveries
        .find({ endpointId, state: 'pending' })
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      const pending = { _id: { $in: found.map(({ _id }) => _id) }, state: 'pending' as const };
      await deliveries.updateMany(
        { ...pending, 'work.token': null },
        { $set: { state: 'cancelled' }, $unset: { work: '' } },
      );
      // An attempt that is under way keeps its lease: what comes of it is recorded.
      await deliveries.updateMany(pending, { $set: { state: 'cancelled' } });
      return found.length;
    },

    async takeOverdue(limit, pauseMs, now) {
      const found = await deliveries
        .find({ 'work.sweepAt': { $lte: now } })
        .project<Pick<DeliveryDocument, '_id' | 'endpointId'>>({ endpointId: 1 })
        .sort({ 'work.sweepAt': 1 })
        .limit(limit)
        .toArray();
      if (found.length > 0) {
        const overdue = { _id: { $in: found.map(({ _id }) => _id) }, 'work.sweepAt': { $lte: now } };
        const sweepAt = later(now, pauseMs);
        await deliveries.updateMany(
          { ...overdue, 'work.readyAt': { $exists: false } },
          { $set: { 'work.token': null, 'work.readyAt': now, 'work.sweepAt': sweepAt } },
        );
        await deliveries.updateMany(overdue, { $set: { 'work.sweepAt': sweepAt } });
      }
      return { endpointIds: [...new Set(found.map(({ endpointId }) => endpointId))], more: found.length === limit };
    },

    async freeLeases(now) {
      await deliveries.updateMany(
        { 'work.sweepAt': { $gt: now }, 'work.token': { $ne: null } },
        { $set: { 'work.token': null, 'work.readyAt': now, 'work.sweepAt': now } },
      );
    },

    async find(tenantId, environment, id) {
      // By its id alone: some servers would rather go through all of the tenant's.
      const found = await deliveries.findOne({ _id: id });
      return found && found.tenantId === tenantId && found.environment === environment ? deliveryOf(found) : null;
    },

    async ofEvents(owner, eventIds) {
      if (eventIds.length === 0) return [];
      // The event's UUID begins the id; `_` and `~` enclose all that may follow it.
      const starts = eventIds.map((eventId) => `dlv_${eventId.slice('evt_'.length)}`);
      const found = await deliveries
        .find({ $or: starts.map((start) => ({ _id: { $gt: `${start}_`, $lt: `${start}_~` } })) })
        .project<Omit<DeliveryDocument, 'attempts'>>({ attempts: 0 })
        .limit(MOST_DELIVERIES)
        .toArray();
      return found.filter(isOf(owner)).map(summaryOf);
    },

    async attempts(owner, ids, maxBytes) {
      const search = deliveries
        .find({ _id: { $in: [...ids] } }, { raw: true })
        .project<Pick<DeliveryDocument, '_id' | 'tenantId' | 'environment' | 'attempts'>>({
          ...{ tenantId: 1, environment: 1, attempts: 1 },
        });
      const { found, bytes } = await readAll(search, ids.length, maxBytes);
      return { rows: new Map(found.filter(isOf(owner)).map(({ _id, attempts }) => [_id, attempts])), bytes };
    },

    page: (query) => readPage(deliveries, filterOf(query), query, deliveryOf),
    summaries: (query) => readPage(deliveries, filterOf(query), query, summaryOf, { attempts: 0 }),
    keys: (query) => readPage(deliveries, filterOf(query), query, keysOf, { eventId: 1, eventType: 1, order: 1 }),

    async reopen(ids, now) {
      const work: DeliveryWork = {
        token: null,
        tries: 0,
        retry: true,
        manual: true,
        readyAt: now,
        sweepAt: later(now, RETRY_GRACE_MS),
      };
      const { matchedCount } = await deliveries.updateMany(
        // Absent, or nobody's: what is under way has a token. A first attempt that waits is due, and has its place in the order.
        { _id: { $in: [...ids] }, 'work.token': null, 'work.retry': { $ne: false } },
        { $set: { state: 'pending', work } },
      );
      return matchedCount;
    },
  };

  async function bulk(operations: AnyBulkWriteOperation<DeliveryDocument>[]): Promise<void> {
    if (operations.length > 0) await deliveries.bulkWrite(operations, { ordered: false });
  }
}

function filterOf({ tenantId, environment, endpointId, state }: PageQuery & DeliveryFilter): Filter<DeliveryDocument> {
  // Naming every state, rather than none, lets one index serve both lists: a server merges its four ranges.
  return {
    tenantId,
    environment,
    ...(endpointId !== null && { endpointId }),
    state: state ?? { $in: [...DELIVERY_STATES] },
  };
}

/** Nothing is written once the lease is another's, or the delivery was settled or cancelled. */
function heldBy({ id, token }: Pick<ClaimedDelivery, 'id' | 'token'>): Filter<DeliveryDocument> {
  return { _id: id, 'work.token': token };
}

function later(instant: Date, milliseconds: number): Date {
  return new Date(instant.getTime() + milliseconds);
}

function updatesOf({ claim, attempt, outcome }: AttemptRecord): AnyBulkWriteOperation<DeliveryDocument>[] {
  const filter = heldBy(claim);
  const $push = { attempts: { $each: [attempt], $slice: -KEPT_ATTEMPTS } };
  const $unset = { work: '' as const };
  if (outcome.state !== 'pending') {
    return [{ updateOne: { filter, update: { $set: { state: outcome.state }, $unset, $push } } }];
  }
  const work = retryWork(claim, outcome.nextAttemptAt);
  return [
    { updateOne: { filter: { ...filter, state: 'pending' }, update: { $set: { work }, $push } } },
    // Its endpoint was disabled or deleted meanwhile: there is no other attempt.
    { updateOne: { filter: { ...filter, state: 'cancelled' }, update: { $unset, $push } } },
  ];
}

/** What is due after an attempt that failed. */
function retryWork({ tries, manual }: ClaimedDelivery, readyAt: Date): DeliveryWork {
  return {
    token: null,
    tries: tries + 1,
    retry: true,
    ...(manual && { manual }),
    readyAt,
    sweepAt: later(readyAt, RETRY_GRACE_MS),
  };
}

function documentOf({ id, nextAttemptAt: _due, ...delivery }: Delivery, expiresAt: Date): DeliveryDocument {
  return { _id: id, ...delivery, expiresAt };
}

function claimOf(document: Omit<DeliveryDocument, 'attempts'>, token: string, leaseEnd: number): ClaimedDelivery {
  const { _id, endpointId, eventId, invoiceId, sequence, earlier = [], createdAt, work } = document;
  return {
    id: _id,
    endpointId,
    eventId,
    invoiceId,
    sequence,
    earlier,
    createdAt,
    tries: work?.tries ?? 0,
    retry: work?.retry ?? false,
    manual: work?.manual ?? false,
    token,
    leaseEnd,
  };
}

function keysOf({ _id, eventId, eventType, order }: Pick<DeliveryDocument, '_id' | 'eventId' | 'eventType' | 'order'>) {
  return { id: _id, eventId, eventType, order };
}

function deliveryOf({ attempts, ...document }: DeliveryDocument): Delivery {
  return { ...summaryOf(document), attempts };
}

function summaryOf({
  _id,
  work,
  expiresAt: _expires,
  ...delivery
}: Omit<DeliveryDocument, 'attempts'>): DeliverySummary {
  return { id: _id, ...delivery, nextAttemptAt: (work?.token === null && work.readyAt) || null };
}

function isOf({ tenantId, environment }: Owner) {
  return (each: Pick<DeliveryDocument, 'tenantId' | 'environment'>) =>
    each.tenantId === tenantId && each.environment === environment;
}
