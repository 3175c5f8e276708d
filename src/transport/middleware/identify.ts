import type { Context, Middleware } from 'koa';
import type { Arrival } from '../../domain/api-key/admission.ts';
import type { Authenticate } from '../../domain/api-key/authenticate.ts';
import type { LimitKind, LimitState, RateLimiter } from '../../domain/api-key/rate-limiter.ts';
import { serviceError } from '../../domain/errors.ts';
import type { Principal } from '../../domain/principal.ts';
import { limitedAddress } from '../client-address.ts';
import type { RequestState } from '../state.ts';
import { isPreflight } from './cors.ts';

/** Paths of the API, except what describes it; a credential is read on these only. */
export function needsCredential(path: string): boolean {
  return /^\/(v1|graphql)(\/|$)/.test(path) && path !== '/v1/openapi.json';
}

/** Health checks are asked by machines at their own pace. */
function isUnlimited(path: string): boolean {
  return path === '/healthz' || path === '/readyz';
}

/**
 * Reads the credential and applies the rate limit that goes with it, the limit first (docs/decisions/0011): a caller over
 * its limit gets 429 whatever its credential. Every answer carries the limit's headers. Health checks are not counted, so that whoever
 * watches the service is never refused, and need no store: theirs show a window in which nothing was counted.
 */
export function identify(authenticate: Authenticate, limiter: RateLimiter): Middleware {
  return async (ctx, next) => {
    if (isUnlimited(ctx.path)) {
      showLimit(ctx, limiter.uncounted('address'));
      return next();
    }
    const state = ctx.state as RequestState;
    // What a browser asks of its own accord has no credential and costs nobody anything.
    const preflight = isPreflight(ctx);
    if (needsCredential(ctx.path) && !preflight) state.identity = await identityOf(ctx, authenticate);
    await count(ctx, limiter, preflight ? 0 : 1);
    return next();
  };
}

function showLimit({ res }: Context, limit: LimitState): void {
  for (const [name, value] of limitHeaders(limit)) res.setHeader(name, value);
}

/**
 * Counts further requests of a caller, for one that does the work of several.
 * @throws {ServiceError} rate_limit_exceeded, with `Retry-After`
 */
export type CountRequests = (ctx: Context, requests: number) => Promise<void>;

export function countingBy(limiter: RateLimiter): CountRequests {
  return (ctx, requests) => count(ctx, limiter, requests);
}

/** @param requests 0 asks for the limit's state alone */
async function count(ctx: Context, limiter: RateLimiter, requests: number): Promise<void> {
  const limit = await limiter.consume(...bucketOf(ctx, ctx.state as RequestState), requests);
  showLimit(ctx, limit);
  if (limit.allowed || requests === 0) return;
  const wait = secondsLeft(limit);
  ctx.set('Retry-After', String(wait));
  throw serviceError('rate_limit_exceeded', `More than ${limit.limit} requests in a minute. Try again in ${wait} s.`);
}

/** The limit's state as headers: the contract's three ("Limits"; the reset in UNIX seconds), and those of the IETF's draft. */
export function limitHeaders(state: LimitState): readonly (readonly [string, string])[] {
  const { limit, remaining, resetAt } = state;
  return [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    ['X-RateLimit-Reset', String(Math.ceil(resetAt / 1000))],
    ['RateLimit-Policy', `"minute";q=${limit};w=60`],
    ['RateLimit', `"minute";r=${remaining};t=${secondsLeft(state)}`],
  ];
}

function secondsLeft({ resetAt }: LimitState): number {
  return Math.max(1, Math.ceil((resetAt - Date.now()) / 1000));
}

async function identityOf(ctx: Context, authenticate: Authenticate): Promise<NonNullable<RequestState['identity']>> {
  try {
    return { principal: await authenticate(ctx.get('Authorization') || undefined, arrivalOf(ctx)) };
  } catch (refusal) {
    // Thrown once the limit is known, which every answer tells.
    return { refusal };
  }
}

function arrivalOf({ secure, ip, host }: Context): Arrival {
  return { encrypted: secure, address: ip, host };
}

function bucketOf(ctx: Context, state: RequestState): [LimitKind, string] {
  const principal = state.identity && 'principal' in state.identity ? state.identity.principal : null;
  return principal ? bucketOfPrincipal(principal) : ['address', limitedAddress(ctx.ip)];
}

function bucketOfPrincipal(principal: Principal): [LimitKind, string] {
  if (principal.kind === 'client') return ['publishable', principal.invoiceId];
  return [principal.kind, principal.keyId];
}
