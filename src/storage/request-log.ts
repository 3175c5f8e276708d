import type { Db } from 'mongodb';
import {
  KEPT_DAYS,
  kindOf,
  type LoggedRequest,
  type RequestFailures,
  type RequestLog,
} from '../domain/request-log/request-record.ts';
import { createOrderedInsert, insertNewInOrder } from './ordered-insert.ts';
import { readPage } from './pages.ts';

export const REQUESTS_SECONDS = KEPT_DAYS * 86_400;
/** A day longer than the requests are kept, because failures are counted by whole days. Seconds. */
export const FAILURES_SECONDS = REQUESTS_SECONDS + 86_400;

interface RequestDocument extends Omit<LoggedRequest, 'id'> {
  _id: string;
  kind: string;
  /** Present on failed requests only. */
  failed?: true;
}

/** Counts the failed requests of a kind on a day (UTC). Found by its id. */
interface FailuresDocument extends RequestFailures {
  _id: string;
  /** Time of one of the requests; the TTL index uses it. */
  at: Date;
}

/**
 * Stores the requests with API keys in the collection `request_log`. Counts the failed ones in `request_failures`,
 * because they may be too many to count for each view.
 */
export function createRequestLog(db: Db): RequestLog {
  const stored = db.collection<RequestDocument>('request_log');
  const insert = createOrderedInsert(db, stored, {
    listOf: ({ tenantId, environment }) => `${tenantId} ${environment}`,
  });
  const failures = db.collection<FailuresDocument>('request_failures');
  return {
    async insert(records) {
      const documents = records.map(({ id, ...record }) => ({
        _id: id,
        ...record,
        kind: kindOf(record),
        ...(record.code !== null && { failed: true as const }),
      }));
      await insertNewInOrder(insert, documents);
      const updates = failuresOf(records).map(({ _id, at, count, firstAt, lastAt, ...kind }) => ({
        updateOne: {
          filter: { _id },
          update: { $setOnInsert: { at, ...kind }, $inc: { count }, $min: { firstAt }, $max: { lastAt } },
          upsert: true,
        },
      }));
      if (updates.length > 0) await failures.bulkWrite(updates, { ordered: false });
    },
    async find(tenantId, environment, id) {
      // Filters by id only: with the tenant in the filter, some servers would scan all requests of the tenant.
      const found = await stored.findOne({ _id: id });
      return found && found.tenantId === tenantId && found.environment === environment ? recordOf(found) : null;
    },
    page({ failed, kind, keyId = null, route = null, ...query }) {
      const { tenantId, environment } = query;
      const filter = {
        tenantId,
        environment,
        ...(failed && { failed: true as const }),
        ...(kind !== null && { kind }),
        ...(keyId !== null && { keyId }),
        ...(route !== null && { route }),
      };
      return readPage(stored, filter, query, recordOf);
    },
    async failures(tenantId, environment, since, limit) {
      const day = idOf({ tenantId, environment, at: since }, '');
      const found = await failures.find({ _id: { $gte: day, $lt: `${tenantId} ${environment}!` } }).toArray();
      const groups = new Map<string, RequestFailures>();
      for (const { _id, at, ...counted } of found) {
        const group = groups.get(counted.kind);
        groups.set(counted.kind, group ? joined(group, counted) : counted);
      }
      return [...groups.values()].sort((a, b) => b.lastAt.getTime() - a.lastAt.getTime()).slice(0, limit);
    },
  };
}

/** Counts the failed requests among the records, by day and kind. */
function failuresOf(records: readonly LoggedRequest[]): FailuresDocument[] {
  const groups = new Map<string, FailuresDocument>();
  for (const record of records) {
    const { method, route, status, code, at, standsFor: count } = record;
    if (code === null) continue;
    const kind = kindOf(record);
    const _id = idOf(record, kind);
    const group = groups.get(_id);
    const one = { kind, method, route, status, code, count, firstAt: at, lastAt: at };
    groups.set(_id, { _id, at, ...(group ? joined(group, one) : one) });
  }
  return [...groups.values()];
}

function joined(a: RequestFailures, b: RequestFailures): RequestFailures {
  const first = a.firstAt < b.firstAt ? a : b;
  const last = a.lastAt > b.lastAt ? a : b;
  return { ...b, count: a.count + b.count, firstAt: first.firstAt, lastAt: last.lastAt };
}

/**
 * Returns the id of a kind of failures. The ids of a tenant's failures in an environment are neighbours, in the order
 * of the days.
 */
function idOf({ tenantId, environment, at }: Pick<LoggedRequest, 'tenantId' | 'environment' | 'at'>, kind: string) {
  return `${tenantId} ${environment} ${at.toISOString().slice(0, 10)} ${kind}`;
}

function recordOf({ _id, kind: _kind, failed: _failed, ...record }: RequestDocument): LoggedRequest {
  return { id: _id, ...record };
}
