import type { Db, Document, UpdateManyModel } from 'mongodb';
import { CLOCK_SKEW_MS } from '../domain/durations.ts';
import { later } from '../domain/later.ts';
import {
  type ClaimedDelivery,
  deliveryOrder,
  earlierDeliveries,
  KEPT_ATTEMPTS,
  MOST_DELIVERIES,
} from '../domain/webhook/delivery.ts';
import type { AttemptRecord, DeliveryLedger } from '../domain/webhook/ports.ts';
import { insertNew } from './insert-new.ts';
import { createLeases, sweep } from './leases.ts';
import { createOrderedInsert, insertNewInOrder } from './ordered-insert.ts';
import { readPage, readUpTo } from './pages.ts';
import { createAttemptReading } from './webhook-attempts.ts';
import {
  type AttemptDocument,
  claimOf,
  type DeliveryDocument,
  type DeliveryWork,
  deliveryOf,
  documentOf,
  filterOf,
  indexOf,
  isOf,
  keysOf,
} from './webhook-delivery-document.ts';

/** Grace period before the sweep examines a new delivery that waits behind a full queue, milliseconds. */
const CLAIM_GRACE_MS = 30_000;
/** Grace period for a retry, whose job may be lost, milliseconds. */
const RETRY_GRACE_MS = 2000;
/** Grace period after the end of a lease, whose worker may have died, milliseconds. */
const LEASE_GRACE_MS = 250;

/**
 * Number of deliveries of an endpoint in a page that the sweep examines again after one pause, so that it reports the
 * endpoint again. The rest of a long backlog, which only its receiver can shorten, is examined after several pauses.
 */
const TELLING = 4;
const REST_PAUSES = 10;

/**
 * Stores deliveries and their attempts in the collections `webhook_deliveries` and `webhook_attempts`. Uses one
 * statement for all deliveries of a batch with an equal outcome, because some servers commit each statement separately.
 */
export function createDeliveryLedger(db: Db): DeliveryLedger {
  const deliveries = db.collection<DeliveryDocument>('webhook_deliveries');
  const attempts = db.collection<AttemptDocument>('webhook_attempts');
  const insert = createOrderedInsert(db, deliveries, {
    listOf: ({ tenantId, environment }) => `${tenantId} ${environment}`,
    raise: (delivery, order) => ({ ...delivery, order: deliveryOrder(order, delivery.endpointId) }),
  });

  const leases = createLeases(deliveries, {
    token: 'work.token',
    until: (end, now) => ({ 'work.sweepAt': later(end, LEASE_GRACE_MS), 'work.since': now }),
  });

  return {
    async insert(rows, now) {
      const documents = rows.map(({ delivery, lease, manual, timesDisabled }) => ({
        ...documentOf(delivery, now),
        work: {
          token: lease?.token ?? null,
          tries: 0,
          retry: false,
          since: now,
          ...(manual && { manual }),
          ...(timesDisabled > 0 && { timesDisabled }),
          ...(lease
            ? { sweepAt: new Date(lease.end + LEASE_GRACE_MS) }
            : { readyAt: now, sweepAt: later(now, CLAIM_GRACE_MS) }),
        },
      }));
      return new Set((await insertNewInOrder<DeliveryDocument>(insert, documents)).map(({ _id }) => _id));
    },

    async claimMany(endpointId, { limit, retries, leaseMs, now }) {
      const due = { 'work.retry': retries, 'work.readyAt': { $lte: now } };
      const found = await deliveries
        .find({ endpointId, ...due })
        .project<{ _id: string }>({ _id: 1 })
        .sort({ 'work.readyAt': 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return [];
      const ids = found.map(({ _id }) => _id);
      const further = { 'work.readyAt': '$$REMOVE' };
      const taken = await leases.claimMany(ids, due, { leaseMs, now, further });
      return taken.flatMap((document) => claimOf(document, now.getTime() + leaseMs) ?? []);
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
      await leases.release([{ leases: claims, update: dueAgain(at, later(at, RETRY_GRACE_MS), at) }]);
    },

    async record(records) {
      const documents = records.map(({ claim, attempt }) => ({ _id: claim.token, ...attempt }));
      // Attempts are written first, so that every attempt that a delivery refers to can be read.
      await insertNew(attempts, documents);
      const changes = new Map<string, { leases: ClaimedDelivery[]; update: Document[] }>();
      for (const { claim, outcome } of records) {
        const equal = JSON.stringify(outcome);
        const change = changes.get(equal) ?? { leases: [], update: updateOf(outcome) };
        changes.set(equal, change);
        change.leases.push(claim);
      }
      await leases.release([...changes.values()]);
    },

    async cancel(claims, now) {
      const groups = Map.groupBy(claims, ({ timesDisabled }) => timesDisabled);
      await leases.release(
        [...groups].map(([before, each]) => ({ leases: each, update: cancelUnlessReopened(before, now) })),
      );
    },

    async cancelPending(endpointId, limit) {
      const found = await deliveries
        .find({ endpointId, state: 'pending' })
        .project<{ _id: string }>({ _id: 1 })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      // A delivery whose attempt is in progress keeps its lease, so that the attempt is recorded.
      const work = { $cond: [{ $eq: ['$work.token', null] }, '$$REMOVE', '$work'] };
      await deliveries.updateMany({ _id: { $in: found.map(({ _id }) => _id) }, state: 'pending' }, [
        { $set: { state: 'cancelled', work } },
      ]);
      return found.length;
    },

    async sweep(limit, pauseMs, now) {
      const sweepAt = later(now, pauseMs);
      const update = dueAgain({ $ifNull: ['$work.readyAt', now] }, sweepAt, now);
      const find = { projection: { endpointId: 1 } };
      const found = await sweep(deliveries, 'work.sweepAt', { limit, now, update, find });
      const rest = [...Map.groupBy(found, ({ endpointId }) => endpointId).values()].flatMap((each) =>
        each.slice(TELLING).map(({ _id }) => _id),
      );
      if (rest.length > 0)
        await deliveries.updateMany(
          { _id: { $in: rest }, 'work.sweepAt': sweepAt },
          { $set: { 'work.sweepAt': later(now, pauseMs * REST_PAUSES) } },
        );
      return { endpointIds: [...new Set(found.map(({ endpointId }) => endpointId))], more: found.length === limit };
    },

    async backlog(limit, now) {
      const found = await deliveries
        // A due delivery is swept after a grace period; the longest grace period is CLAIM_GRACE_MS.
        .find({ 'work.sweepAt': { $lte: later(now, CLAIM_GRACE_MS) }, 'work.readyAt': { $lte: now } })
        .project<{ work: { readyAt: Date } }>({ _id: 0, 'work.readyAt': 1 })
        .sort({ 'work.sweepAt': 1 })
        .limit(limit)
        .toArray();
      const times = found.map(({ work }) => work.readyAt.getTime());
      return { waiting: times.length, oldest: times.length === 0 ? null : new Date(Math.min(...times)) };
    },

    async reschedule(now) {
      const ahead = later(now, CLOCK_SKEW_MS);
      // A field that is absent stays absent.
      const fromNow = (time: string) => ({
        $cond: [{ $gt: [time, null] }, { $add: [now, { $subtract: [time, '$work.since'] }] }, '$$REMOVE'],
      });
      const moved = { 'work.readyAt': fromNow('$work.readyAt'), 'work.sweepAt': fromNow('$work.sweepAt') };
      // `sweepAt` is never earlier than `since`. The condition on `sweepAt` lets the query use the index.
      const { modifiedCount } = await deliveries.updateMany(
        { 'work.sweepAt': { $gt: ahead }, 'work.since': { $gt: ahead } },
        [{ $set: { ...moved, 'work.since': now } }],
      );
      return modifiedCount;
    },

    async freeLeases(now, leaseMs) {
      const latest = later(now, leaseMs + LEASE_GRACE_MS + CLOCK_SKEW_MS);
      const leased = { 'work.sweepAt': { $gt: now, $lte: latest }, 'work.token': { $ne: null } };
      await deliveries.updateMany(leased, dueAgain(now, now, now));
    },

    async find(tenantId, environment, id) {
      // Filters by id only: with the tenant in the filter, some servers would scan all deliveries of the tenant.
      const found = await deliveries.findOne({ _id: id });
      return found && found.tenantId === tenantId && found.environment === environment ? deliveryOf(found) : null;
    },

    async ofEvents(owner, eventIds) {
      if (eventIds.length === 0) return [];
      // The id starts with the UUID of the event. Every character that can follow sorts between `_` and `~`.
      const starts = eventIds.map((eventId) => `dlv_${eventId.slice('evt_'.length)}`);
      const ranges = starts.map((start) => ({ _id: { $gt: `${start}_`, $lt: `${start}_~` } }));
      const search = deliveries
        .find({ $or: ranges }, { raw: true })
        .project<Omit<DeliveryDocument, 'attempts'>>({ attempts: 0 });
      const { found } = await readUpTo(search, MOST_DELIVERIES, Number.POSITIVE_INFINITY);
      return found.filter(isOf(owner)).map(deliveryOf);
    },

    ...createAttemptReading(db),
    page: (query) => readPage(deliveries, filterOf(query), query, deliveryOf, { hint: indexOf(query) }),
    keys: (query) => {
      const projection = { eventId: 1, eventType: 1, order: 1 };
      return readPage(deliveries, filterOf(query), query, keysOf, { projection, hint: indexOf(query) });
    },

    async reopen(reopened, now) {
      const groups = Map.groupBy(reopened, ({ timesDisabled }) => timesDisabled);
      const operations = [...groups].flatMap(([timesDisabled, rows]) => {
        const ids = rows.map(({ id }) => id);
        return reopenings(ids, timesDisabled, now).map((updateMany) => ({ updateMany }));
      });
      if (operations.length === 0) return 0;
      return (await deliveries.bulkWrite(operations, { ordered: false })).matchedCount;
    },
  };
}

/**
 * The update that ends the leases of deliveries that were not attempted. It settles those that were cancelled
 * meanwhile.
 */
function dueAgain(readyAt: Date | Document, sweepAt: Date, since: Date): Document[] {
  return [{ $set: { work: whilePending({ $mergeObjects: ['$work', { token: null, readyAt, sweepAt, since }] }) } }];
}

/** Keeps the work only while the delivery is pending: a delivery cancelled during its lease is not attempted again. */
function whilePending(work: Document): Document {
  return { $cond: [{ $eq: ['$state', 'pending'] }, work, '$$REMOVE'] };
}

/**
 * The updates that send deliveries again by hand: one for deliveries without a lease, one for leased ones that were
 * cancelled.
 */
function reopenings(ids: string[], timesDisabled: number, now: Date): UpdateManyModel<DeliveryDocument>[] {
  const _id = { $in: ids };
  const round = { tries: 0, retry: true, manual: true, timesDisabled } as const;
  const work: DeliveryWork = { ...round, token: null, readyAt: now, sweepAt: later(now, RETRY_GRACE_MS), since: now };
  // The lease is kept, so that an attempt that is under way is recorded.
  const leased = Object.fromEntries(Object.entries(round).map(([name, value]) => [`work.${name}`, value]));
  return [
    // Settled deliveries have no `work`. A waiting first attempt is due anyway and must keep its place in the order.
    { filter: { _id, 'work.token': null, 'work.retry': { $ne: false } }, update: { $set: { state: 'pending', work } } },
    {
      filter: { _id, state: 'cancelled', 'work.token': { $ne: null } },
      update: { $set: { state: 'pending', ...leased } },
    },
  ];
}

/**
 * The update that cancels claimed deliveries, unless they were reopened meanwhile.
 * @param timesDisabled the value in the claims: a delivery with a higher one was reopened since, and is due
 */
function cancelUnlessReopened(timesDisabled: number, now: Date): Document[] {
  const reopened = { $gt: [{ $ifNull: ['$work.timesDisabled', 0] }, timesDisabled] };
  const due = { token: null, readyAt: now, sweepAt: later(now, RETRY_GRACE_MS), since: now };
  const work = { $cond: [reopened, { $mergeObjects: ['$work', due] }, '$$REMOVE'] };
  return [{ $set: { state: { $cond: [reopened, '$state', 'cancelled'] }, work } }];
}

/** The update for all deliveries with this outcome. The token of the ending lease is the id of the attempt. */
function updateOf(outcome: AttemptRecord['outcome']): Document[] {
  const attempts = { $slice: [{ $concatArrays: ['$attempts', ['$work.token']] }, -KEPT_ATTEMPTS] };
  if (outcome.state !== 'pending') return [{ $set: { state: outcome.state, attempts } }, { $unset: 'work' }];
  const { nextAttemptAt, plannedAt } = outcome;
  const retry = {
    token: null,
    tries: { $add: ['$work.tries', 1] },
    retry: true,
    manual: '$work.manual',
    timesDisabled: '$work.timesDisabled',
    readyAt: nextAttemptAt,
    sweepAt: later(nextAttemptAt, RETRY_GRACE_MS),
    since: plannedAt,
  };
  return [{ $set: { attempts, work: whilePending(retry) } }];
}
