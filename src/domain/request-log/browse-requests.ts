import { DAY_MS } from '../durations.ts';
import { serviceError } from '../errors.ts';
import { type Page, type PageSpan, placeInList } from '../page.ts';
import type { Member } from '../principal.ts';
import type { Owner } from '../tenant/tenant.ts';
import type { Call, UseCase } from '../use-case.ts';
import { KEPT_DAYS, type LoggedRequest, type RequestFailures, type RequestLog } from './request-record.ts';

/** Maximum number of groups in an answer. */
const MOST_GROUPS = 50;
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
  /** Restricts it to the requests with a key, or to the pattern of a path. Not together, nor with the other two. */
  readonly keyId: string | null;
  readonly route: string | null;
}

interface RequestNeeds {
  readonly requestLog: RequestLog;
}

/**
 * Reads the requests with the API keys of a tenant and environment of the last 7 days, for callers who may manage its
 * operation.
 * @throws {ServiceError} resource_not_found for a request that is unknown, another tenant's or no longer kept;
 * invalid_request for an invalid page request
 */
export const REQUEST_USE_CASES = {
  apiRequests: {
    scope: 'operate',
    async run(
      { requestLog }: RequestNeeds,
      { by }: Call,
      { failed, kind, keyId, route, ...span }: RequestsInput,
    ): Promise<Page<LoggedRequest>> {
      const owner = ownerOf(by);
      if (kind !== null && (failed || kind.length > MOST_KIND))
        throw serviceError('invalid_request', 'kind must be that of a failure, and not with failed.', 'kind');
      for (const [param, value] of Object.entries({ apiKeyId: keyId, route }))
        if (value !== null && (failed || value.length > MOST_KIND || [kind, keyId, route].filter(Boolean).length > 1))
          throw serviceError('invalid_request', `${param} must be short, and not with another filter.`, param);
      const place = await placeInList(span, (id) => findOwn(requestLog, owner, id));
      return requestLog.page({ ...owner, ...place, failed, kind, keyId, route, from: null, until: null });
    },
  },
  apiRequest: {
    scope: 'operate',
    async run({ requestLog }: RequestNeeds, { by }: Call, id: string): Promise<LoggedRequest> {
      const found = await findOwn(requestLog, ownerOf(by), id);
      if (found) return found;
      throw serviceError('resource_not_found', 'There is no such request in the last 7 days.', 'id');
    },
  },
  apiRequestFailures: {
    scope: 'operate',
    async run({ requestLog }: RequestNeeds, { by }: Call): Promise<readonly RequestFailures[]> {
      const { tenantId, environment } = ownerOf(by);
      return requestLog.failures(tenantId, environment, new Date(Date.now() - KEPT_DAYS * DAY_MS), MOST_GROUPS);
    },
  },
} as const satisfies Readonly<Record<string, UseCase>>;

function ownerOf({ tenant, environment }: Member): Owner {
  return { tenantId: tenant.id, environment };
}

async function findOwn(log: RequestLog, { tenantId, environment }: Owner, id: string): Promise<LoggedRequest | null> {
  return REQUEST_ID.test(id) ? log.find(tenantId, environment, id) : null;
}
