import { serviceError } from '../errors.ts';
import { PAGE_SIZE } from '../limits.ts';
import type { Page } from '../page.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { LoggedRequest, RequestFailures, RequestLog } from './request-record.ts';

/** Records of failed requests that are grouped, the newest ones. */
export const MOST_GROUPED = 5000;
/** The most groups of an answer. */
export const MOST_GROUPS = 50;
/** `req_` and a UUID. */
const REQUEST_ID = /^req_[0-9a-f-]{36}$/;
const MOST_KIND = 300;

export interface RequestsInput {
  readonly failed: boolean;
  /** As {@link RequestFailures} name it; not with `failed`, which it implies. */
  readonly kind: string | null;
  /** 1 to 100. */
  readonly limit: number;
  readonly cursor: { readonly direction: 'after' | 'before'; readonly id: string } | null;
}

/**
 * The requests with the API keys of a tenant and environment in the last 7 days: for whoever may operate them.
 * @throws {ServiceError} insufficient_scope; resource_not_found for a request that is unknown, another tenant's or not
 *   kept; invalid_request for an invalid page request
 */
export interface BrowseRequests {
  page(principal: Principal, input: RequestsInput): Promise<Page<LoggedRequest>>;
  find(principal: Principal, id: string): Promise<LoggedRequest>;
  failures(principal: Principal): Promise<readonly RequestFailures[]>;
}

export function createBrowseRequests(log: RequestLog): BrowseRequests {
  const ownerOf = (principal: Principal) => {
    const { tenant, environment } = requireScope(principal, 'operate');
    return { tenantId: tenant.id, environment };
  };
  return {
    async page(principal, { failed, kind, limit, cursor }) {
      const owner = ownerOf(principal);
      if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_SIZE.most) {
        const param = cursor?.direction === 'before' ? 'last' : 'first';
        throw serviceError('invalid_request', `${param} must be an integer from 1 to ${PAGE_SIZE.most}.`, param);
      }
      if (kind !== null && (failed || kind.length > MOST_KIND))
        throw serviceError('invalid_request', 'kind must be that of a failure, and not with failed.', 'kind');
      const row =
        cursor && REQUEST_ID.test(cursor.id) ? await log.find(owner.tenantId, owner.environment, cursor.id) : null;
      if (cursor && !row)
        throw serviceError('invalid_request', `${cursor.direction} must be a cursor of this list.`, cursor.direction);
      const place = cursor && row && { direction: cursor.direction, order: row.order };
      return log.page({ ...owner, failed, kind, limit, cursor: place, from: null, until: null });
    },
    async find(principal, id) {
      const { tenantId, environment } = ownerOf(principal);
      const found = REQUEST_ID.test(id) ? await log.find(tenantId, environment, id) : null;
      if (found) return found;
      throw serviceError('resource_not_found', 'There is no such request in the last 7 days.', 'id');
    },
    async failures(principal) {
      const { tenantId, environment } = ownerOf(principal);
      return (await log.failures(tenantId, environment, MOST_GROUPED)).slice(0, MOST_GROUPS);
    },
  };
}
