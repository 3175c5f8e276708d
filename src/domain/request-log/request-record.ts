import type { Page, PageQuery } from '../page.ts';
import type { Environment, Owner } from '../tenant/tenant.ts';

/**
 * A request with an API key. Of the values in its path it has only a document's id; it has neither body nor secrets.
 */
export interface RequestRecord extends Owner {
  /** The request id in the answer, prefix `req_`. */
  readonly id: string;
  readonly at: Date;
  readonly method: string;
  /** The pattern of the route: `/v1/invoices/:id`. */
  readonly route: string;
  /** The name of the GraphQL operation; null if there is none. */
  readonly operation: string | null;
  /** The invoice or credit note that the path names, or that it created over REST; null if there is none. */
  readonly documentId: string | null;
  readonly status: number;
  /** Time until the answer began, milliseconds. */
  readonly milliseconds: number;
  /** The error code of the contract; null if the request succeeded. */
  readonly code: string | null;
  /** The name of the field that the error is about; null if there is none. */
  readonly param: string | null;
  readonly keyId: string;
  /** Number of similar requests that this record stands for, including its own. */
  readonly standsFor: number;
}

/** A record with its order key in the log. */
export type LoggedRequest = RequestRecord & { readonly order: string };

/** Returns the kind of a request. Requests of one kind are counted together. */
export function kindOf({ method, route, status, code }: Pick<RequestRecord, 'method' | 'route' | 'status' | 'code'>) {
  return [method, route, status, code ?? ''].join(' ');
}

/** The number of failed requests of a kind. */
export interface RequestFailures extends Pick<RequestRecord, 'method' | 'route' | 'status' | 'code'> {
  readonly kind: string;
  readonly count: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

export interface RequestQuery extends PageQuery {
  /** Restricts the page to failed requests. At most one of the four is set: an index has one of them. */
  readonly failed: boolean;
  readonly kind: string | null;
  readonly keyId?: string | null;
  readonly route?: string | null;
}

/** The records of the last {@link KEPT_DAYS} days. */
export interface RequestLog {
  /** Stores records; existing ones are not changed. Takes one round trip, and one more if requests have failed. */
  insert(records: readonly LoggedRequest[]): Promise<void>;
  find(tenantId: string, environment: Environment, id: string): Promise<LoggedRequest | null>;
  page(query: RequestQuery): Promise<Page<LoggedRequest>>;
  /** Returns all failures since the start of the day (UTC) of `since`, by kind, up to `limit` kinds, newest first. */
  failures(tenantId: string, environment: Environment, since: Date, limit: number): Promise<RequestFailures[]>;
}

export const KEPT_DAYS = 7;
