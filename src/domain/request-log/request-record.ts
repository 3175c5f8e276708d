import type { Page, PageQuery } from '../page.ts';
import type { Environment, Owner } from '../tenant/tenant.ts';

/** A request with an API key, without its path's values, its body and its secrets. */
export interface RequestRecord extends Owner {
  /** The request id that the answer told, prefix `req_`. */
  readonly id: string;
  readonly at: Date;
  readonly method: string;
  /** The pattern of the route: `/v1/invoices/:id`. */
  readonly route: string;
  /** The name of the GraphQL operation, if it has one. */
  readonly operation: string | null;
  readonly status: number;
  /** Until the answer began. */
  readonly milliseconds: number;
  /** The error code of the contract; null if the request succeeded. */
  readonly code: string | null;
  /** The name of the field that the error is about; null if there is none. */
  readonly param: string | null;
  readonly keyId: string;
  /** Number of like requests that this record stands for, itself included. */
  readonly standsFor: number;
}

/** A record in the order of the log. */
export type LoggedRequest = RequestRecord & { readonly order: string };

/** The kind of a request: requests of one kind are counted together. */
export function kindOf({ method, route, status, code }: Pick<RequestRecord, 'method' | 'route' | 'status' | 'code'>) {
  return [method, route, status, code ?? ''].join(' ');
}

/** The failed requests of a kind. */
export interface RequestFailures extends Pick<RequestRecord, 'method' | 'route' | 'status' | 'code'> {
  readonly kind: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export interface RequestQuery extends PageQuery {
  /** Only failed requests; not with a kind. */
  readonly failed: boolean;
  readonly kind: string | null;
}

/** The records of the last {@link KEPT_DAYS} days. */
export interface RequestLog {
  /** Stores records; those that exist are left as they are. One round trip, and one more if requests have failed. */
  insert(records: readonly LoggedRequest[]): Promise<void>;
  find(tenantId: string, environment: Environment, id: string): Promise<LoggedRequest | null>;
  page(query: RequestQuery): Promise<Page<LoggedRequest>>;
  /** All failures since the begin of the day (UTC) of `since`, by kind, up to `limit` kinds, the newest first. */
  failures(tenantId: string, environment: Environment, since: Date, limit: number): Promise<RequestFailures[]>;
}

export const KEPT_DAYS = 7;
