import type { Db } from 'mongodb';
import {
  KEPT_DAYS,
  kindOf,
  type LoggedRequest,
  type RequestFailures,
  type RequestLog,
} from '../domain/request-log/request-record.ts';
import { insertNew } from './insert-new.ts';
import { readPage } from './pages.ts';

export const REQUESTS_SECONDS = KEPT_DAYS * 86_400;

interface RequestDocument extends Omit<LoggedRequest, 'id'> {
  _id: string;
  kind: string;
  /** Present on failed requests only. */
  failed?: true;
}

/** The requests with API keys in the collection `request_log`. */
export function createRequestLog(db: Db): RequestLog {
  const stored = db.collection<RequestDocument>('request_log');
  return {
    async insert(records) {
      const documents = records.map(({ id, ...record }) => ({
        ...{ _id: id, ...record, kind: kindOf(record) },
        ...(record.code !== null && { failed: true as const }),
      }));
      await insertNew(stored, documents);
    },
    async find(tenantId, environment, id) {
      // Filters by id only: with the tenant in the filter, some servers would scan all requests of the tenant.
      const found = await stored.findOne({ _id: id });
      return found && found.tenantId === tenantId && found.environment === environment ? recordOf(found) : null;
    },
    page({ failed, kind, ...query }) {
      const { tenantId, environment } = query;
      const filter = {
        tenantId,
        environment,
        ...(failed && { failed: true as const }),
        ...(kind !== null && { kind }),
      };
      return readPage(stored, filter, query, recordOf);
    },
    async failures(tenantId, environment, limit) {
      const newest = [
        { $match: { tenantId, environment, failed: true } },
        { $sort: { order: -1 } },
        { $limit: limit },
        { $project: { _id: 0, kind: 1, method: 1, route: 1, status: 1, code: 1, at: 1, standsFor: 1 } },
      ];
      const groups = new Map<string, RequestFailures>();
      for await (const row of stored.aggregate<RequestDocument>(newest, { batchSize: limit })) {
        const { kind, method, route, status, code, at, standsFor } = row;
        const group = groups.get(kind) ?? { kind, method, route, status, code, count: 0, firstAt: at, lastAt: at };
        groups.set(kind, { ...group, count: group.count + standsFor, firstAt: at });
      }
      return [...groups.values()];
    },
  };
}

function recordOf({ _id, kind: _kind, failed: _failed, ...record }: RequestDocument): LoggedRequest {
  return { id: _id, ...record };
}
