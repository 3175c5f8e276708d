import type { Context } from 'koa';
import type { Activity } from '../domain/activity.ts';
import type { Principal } from '../domain/principal.ts';

/** Facts about a request that middleware sets. It also is the {@link Activity} of the work that answers the request. */
export interface RequestState extends Activity {
  requestId: string;
  /** Set when the request target is not a valid URL. The URL is then `/` until the request is refused. */
  noTarget?: true;
  /** The first error of the answer, also one within a GraphQL answer with status 200. */
  failure?: { readonly code: string; readonly param: string | null };
  /** Whether a GraphQL answer has an error with status 503. */
  isUnavailable?: true;
  /** The invoice that a request to REST created. */
  createdId?: string;
  /** The name of the GraphQL operation. */
  operation?: string | null;
  /** The caller, or the error of its authentication, mostly a 401. Absent on paths that need no credential. */
  identity?: { readonly principal: Principal } | { readonly refusal: unknown };
  /** Whether all middleware has returned. */
  hasReturned?: true;
  /** Whether the request is released then: see `releaseRequest`. */
  isReleasable?: true;
  /** The checks that ask.ts ran, in order. `isLate`: must run again when the body is complete. */
  questions?: { readonly put: () => Promise<unknown>; isLate: boolean }[];
}

/**
 * Returns the caller of a request.
 * @throws {ServiceError} 401, or the error that prevented the look-up of the credential
 */
export function principalOf(ctx: Context): Principal {
  const { identity } = ctx.state as RequestState;
  if (!identity) throw new Error(`${ctx.path} is a path without authentication`);
  if ('refusal' in identity) throw identity.refusal;
  return identity.principal;
}

export function requestIdOf(ctx: Context): string {
  return (ctx.state as RequestState).requestId;
}
