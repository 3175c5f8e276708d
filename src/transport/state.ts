import type { Context } from 'koa';
import type { Principal } from '../domain/principal.ts';

/** What the middleware learns about a request. */
export interface RequestState {
  requestId: string;
  /** Set when what was asked for is no address: `/` stands in for it until it is refused. */
  noTarget?: true;
  /** Who is calling, or why that is not known: mostly a ServiceError of 401. Absent on paths that need no credential. */
  identity?: { readonly principal: Principal } | { readonly refusal: unknown };
}

/** The request's caller. @throws {ServiceError} 401, or whatever kept the service from looking it up */
export function principalOf(ctx: Context): Principal {
  const { identity } = ctx.state as RequestState;
  if (!identity) throw new Error(`no credential is read on ${ctx.path}`);
  if ('refusal' in identity) throw identity.refusal;
  return identity.principal;
}

export function requestIdOf(ctx: Context): string {
  return (ctx.state as RequestState).requestId;
}
