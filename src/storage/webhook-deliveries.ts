import { randomUUID } from 'node:crypto';
import type { Db, Document, Filter } from 'mongodb';
import type { PageQuery } from '../domain/page.ts';
import type { Owner } from '../domain/tenant/tenant.ts';
import {
  type Attempt,
  type ClaimedDelivery,
  DELIVERY_STATES,
  type Delivery,
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
  /** The last attempts by their `_id`, oldest first. */
  attempts: string[];
  /** When the row is deleted. */
  expiresAt: Date;
}

interface AttemptDocument extends Attempt {
  /** The token of the lease under which it was made. One that no delivery names was made under a lost lease, and is not shown. */
  _id: string;
  /** When the row is deleted. */
  expiresAt: Date;
}

interface DeliveryWork {
  /** Of the lease; null when nobody holds one. */
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

/** How many leases one statement of an update names: a server compares each of its documents with all of them. */
const STATEMENT = 250;
/** How many attempts are read at a time: with bodies and headers of 16 KiB each they have some MiB. */
const ATTEMPTS_AT_ONCE = 100;

/**
 * The ledger of deliveries in the collections `webhook_deliveries` and `webhook_attempts`. What is written for a batch is few statements,
 * because some servers commit each statement by itself.
 * @param retentionMs how long deliveries are kept
 */
export function createDeliveryLedger(db: Db, retentionMs: number): DeliveryLedger {
  const deliveries = db.collection<DeliveryDocument>('webhook_deliveries');
  const attempts = db.collection<AttemptDocument>('webhook_attempts');

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
      const ids = found.map(({ _id }) => _id);
      const prefix = `${randomUUID()}_`;
      const end = now.getTime() + leaseMs;
      const token = { $concat: [prefix, '$_id'] };
      await deliveries.updateMany({ _id: { $in: ids }, ...due }, [
        { $set: { 'work.token': token, 'work.sweepAt': new Date(end + LEASE_GRACE_MS) } },
        { $unset: 'work.readyAt' },
      ]);
      // Another process may have taken some of them.
      const taken = deliveries.find(heldBy(ids.map((id) => ({ id, token: `${prefix}${id}` }))));
      return (await taken.toArray()).flatMap((document) => claimOf(document, end) ?? []);
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
      const $set = { 'work.token': null, 'work.readyAt': at, 'work.sweepAt': later(at, RETRY_GRACE_MS) };
      await updateHeld([{ claims, update: [{ $set }] }]);
    },

    async record(records) {
      const documents = records.map(({ claim, attempt }) => ({
        ...{ _id: claim.token, ...attempt, expiresAt: later(attempt.at, retentionMs) },
      }));
      // Before the deliveries that name them: what reads a delivery finds its attempts.
      await insertNew(attempts, documents);
      const byOutcome = Map.groupBy(records, ({ outcome }) => JSON.stringify(outcome));
      await updateHeld(
        [...byOutcome.values()].flatMap((equal) =>
          equal
            .slice(0, 1)
            .map(({ outcome }) => ({ claims: equal.map(({ claim }) => claim), update: updateOf(outcome) })),
        ),
      );
    },

    async cancel(claims) {
      await updateHeld([{ claims, update: [{ $set: { state: 'cancelled' } }, { $unset: 'work' }] }]);
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
        .limit(MOST_DELIVERIES)
        .toArray();
      return found.filter(isOf(owner)).map(deliveryOf);
    },

    async attempts(owner, ids, maxBytes) {
      const own = (await deliveries.find({ _id: { $in: [...ids] } }).toArray()).filter(isOf(owner));
      const search = attempts.find({ _id: { $in: own.flatMap((each) => each.attempts) } }, { raw: true });
      const most = ids.length * KEPT_ATTEMPTS;
      const { found, bytes } = await readAll(search, most, maxBytes, ATTEMPTS_AT_ONCE);
      const stored = new Map(found.map(({ _id, expiresAt: _expires, ...attempt }) => [_id, attempt]));
      const rows = own.map((each) => [each._id, each.attempts.flatMap((id) => stored.get(id) ?? [])] as const);
      return { rows: new Map(rows), bytes };
    },

    page: (query) => readPage(deliveries, filterOf(query), query, deliveryOf),
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

  /** Changes nothing where the lease was lost: it is another's, or the delivery was settled or cancelled. */
  async function updateHeld(changes: readonly { claims: readonly ClaimedDelivery[]; update: Document[] }[]) {
    const operations = changes.flatMap(({ claims, update }) =>
      Array.from({ length: Math.ceil(claims.length / STATEMENT) }, (_, i) => ({
        updateMany: { filter: heldBy(claims.slice(i * STATEMENT, (i + 1) * STATEMENT)), update },
      })),
    );
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

/** As a token is of one lease of one delivery, these are the deliveries whose leases still hold, and no others. */
function heldBy(claims: readonly Pick<ClaimedDelivery, 'id' | 'token'>[]): Filter<DeliveryDocument> {
  return { _id: { $in: claims.map(({ id }) => id) }, 'work.token': { $in: claims.map(({ token }) => token) } };
}

function later(instant: Date, milliseconds: number): Date {
  return new Date(instant.getTime() + milliseconds);
}

/** The same for all deliveries with this outcome: the lease that is given up names the attempt. */
function updateOf(outcome: AttemptRecord['outcome']): Document[] {
  const attempts = { $slice: [{ $concatArrays: ['$attempts', ['$work.token']] }, -KEPT_ATTEMPTS] };
  if (outcome.state !== 'pending') return [{ $set: { state: outcome.state, attempts } }, { $unset: 'work' }];
  const { nextAttemptAt } = outcome;
  const retry = {
    token: null,
    tries: { $add: ['$work.tries', 1] },
    retry: true,
    manual: '$work.manual',
    readyAt: nextAttemptAt,
    sweepAt: later(nextAttemptAt, RETRY_GRACE_MS),
  };
  // When its endpoint was disabled or deleted meanwhile, there is no other attempt.
  const work = { $cond: [{ $eq: ['$state', 'pending'] }, retry, '$$REMOVE'] };
  return [{ $set: { attempts, work } }];
}

function documentOf({ id, nextAttemptAt: _due, ...delivery }: Delivery, expiresAt: Date): DeliveryDocument {
  return { _id: id, ...delivery, attempts: [], expiresAt };
}

/** null when nobody holds a lease. */
function claimOf(document: DeliveryDocument, leaseEnd: number): ClaimedDelivery | null {
  const { _id, endpointId, eventId, invoiceId, sequence, earlier = [], createdAt, work } = document;
  if (!work?.token) return null;
  const { token, tries, retry, manual = false } = work;
  return {
    id: _id,
    endpointId,
    eventId,
    invoiceId,
    sequence,
    earlier,
    createdAt,
    tries,
    retry,
    manual,
    token,
    leaseEnd,
  };
}

function keysOf({ _id, eventId, eventType, order }: Pick<DeliveryDocument, '_id' | 'eventId' | 'eventType' | 'order'>) {
  return { id: _id, eventId, eventType, order };
}

function deliveryOf({ _id, work, attempts: _attempts, expiresAt: _expires, ...delivery }: DeliveryDocument): Delivery {
  return { id: _id, ...delivery, nextAttemptAt: (work?.token === null && work.readyAt) || null };
}

function isOf({ tenantId, environment }: Owner) {
  return (each: Pick<DeliveryDocument, 'tenantId' | 'environment'>) =>
    each.tenantId === tenantId && each.environment === environment;
}
