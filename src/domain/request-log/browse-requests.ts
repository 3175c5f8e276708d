import { DAY_MS } from '../durations.ts';
import { serviceError } from '../errors.ts';
import { type Page, type PageSpan, placeInList } from '../page.ts';
import { type Principal, requireScope } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import { KEPT_DAYS, type LoggedRequest, type RequestFailures, type RequestLog } from './request-record.ts';

/** Maximum number of groups in an answer. */
export const MOST_GROUPS = 50;
/** `req_` and a UUID. */
const REQUEST_ID = /^req_[0-9a-f-]{36}$/;
const MOST_KIND = 300;

export interface RequestsInput extends PageSpan {
  readonly failed: boolean;
  /**
   * Restricts the page to a kind of {@link RequestFailures}; null for all. It implies `failed`, and the two together
   * are refused.
   */
  readonly kind: string | null;
}

/**
 * Reads the requests with the API keys of a tenant and environment of the last 7 days, for callers who may manage its
 * operation.
 * @throws {ServiceError} insufficient_scope; resource_not_found for a request that is unknown, another tenant's or no
 * longer kept; invalid_request for an invalid page request
 */
export interface BrowseRequests {
  page(principal: Principal, input: RequestsInput): Promise<Page<LoggedRequest>>;
  find(principal: Principal, id: string): Promise<LoggedRequest>;
  failures(principal: Principal): Promise<readonly RequestFailures[]>;
}

export function createBrowseRequests(log: RequestLog, now: () => number = Date.now): BrowseRequests {
  const ownerOf = (principal: Principal) => {
    const { tenant, environment } = requireScope(principal, 'operate');
    return { tenantId: tenant.id, environment };
  };
  const findOwn = async ({ tenantId, environment }: Owner, id: string) =>
    REQUEST_ID.test(id) ? log.find(tenantId, environment, id) : null;
  return {
    async page(principal, { failed, kind, ...span }) {
      const owner = ownerOf(principal);
      if (kind !== null && (failed || kind.length > MOST_KIND))
        throw serviceError('invalid_request', 'kind must be that of a failure, and not with failed.', 'kind');
      const place = await placeInList(span, (id) => findOwn(owner, id));
      return log.page({ ...owner, ...place, failed, kind, from: null, until: null });
    },
    async find(principal, id) {
      const found = await findOwn(ownerOf(principal), id);
      if (found) return found;
      throw serviceError('resource_not_found', 'There is no such request in the last 7 days.', 'id');
    },
    async failures(principal) {
      const { tenantId, environment } = ownerOf(principal);
      return log.failures(tenantId, environment, new Date(now() - KEPT_DAYS * DAY_MS), MOST_GROUPS);
    },
  };
}
