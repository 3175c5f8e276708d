import type { Context, Middleware } from 'koa';
import type { Arrival } from '../../domain/api-key/admission.ts';
import type { Authenticate } from '../../domain/api-key/authenticate.ts';
import type { LimitKind, LimitState, RateLimiter } from '../../domain/api-key/rate-limiter.ts';
import { serviceError } from '../../domain/errors.ts';
import type { Principal } from '../../domain/principal.ts';
import { limitedAddress } from '../client-address.ts';
import type { RequestState } from '../state.ts';
import { isPreflight } from './cors.ts';

/** Whether a path needs a credential: the paths of the API, except its description. */
export function needsCredential(path: string): boolean {
  return /^\/(v1|graphql)(\/|$)/.test(path) && path !== '/v1/openapi.json';
}

/** Health checks have no rate limit, because monitoring systems choose their own interval. */
function isUnlimited(path: string): boolean {
  return path === '/healthz' || path === '/readyz';
}

/**
 * Reads the credential and applies its rate limit. The limit is checked first (docs/decisions/0011): a caller over its
 * limit gets 429, even if its credential is refused. Every answer has the headers of the limit. Health checks are not
 * counted, so that monitoring is never refused, and need no store: their headers show an unused window.
 * @param forwarded whether a request came through a proxy that is not trusted
 */
export function identify(
  authenticate: Authenticate,
  limiter: RateLimiter,
  forwarded: (ctx: Context) => boolean,
): Middleware {
  return async (ctx, next) => {
    if (isUnlimited(ctx.path)) {
      showLimit(ctx, limiter.uncounted('address'));
      return next();
    }
    const state = ctx.state as RequestState;
    // Browsers send preflights without a credential, and they are not counted.
    const preflight = isPreflight(ctx);
    if (needsCredential(ctx.path) && !preflight) state.identity = await identityOf(ctx, authenticate, forwarded(ctx));
    await count(ctx, limiter, preflight ? 0 : 1);
    return next();
  };
}

function showLimit({ res }: Context, limit: LimitState): void {
  for (const [name, value] of limitHeaders(limit)) res.setHeader(name, value);
}

/**
 * Counts additional requests of a caller, for a request with several operations.
 * @throws {ServiceError} rate_limit_exceeded, with `Retry-After`
 */
export type CountRequests = (ctx: Context, requests: number) => Promise<void>;

export function countingBy(limiter: RateLimiter): CountRequests {
  return (ctx, requests) => count(ctx, limiter, requests);
}

/** @param requests 0 only reads the state of the limit */
async function count(ctx: Context, limiter: RateLimiter, requests: number): Promise<void> {
  const limit = await limiter.consume(...bucketOf(ctx, ctx.state as RequestState), requests);
  showLimit(ctx, limit);
  if (limit.allowed || requests === 0) return;
  const wait = secondsLeft(limit);
  ctx.set('Retry-After', String(wait));
  throw serviceError('rate_limit_exceeded', `More than ${limit.limit} requests in a minute. Try again in ${wait} s.`);
}

/**
 * The state of a limit as headers: the contract's (docs/api/contract.md, "Limits"; the reset in UNIX seconds), and
 * those of the IETF draft "RateLimit header fields for HTTP".
 */
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

async function identityOf(
  ctx: Context,
  authenticate: Authenticate,
  forwarded: boolean,
): Promise<NonNullable<RequestState['identity']>> {
  try {
    return { principal: await authenticate(ctx.get('Authorization') || undefined, { ...arrivalOf(ctx), forwarded }) };
  } catch (refusal) {
    // Thrown later, because the limit is counted first and every answer shows it.
    return { refusal };
  }
}

function arrivalOf({ secure, ip, host }: Context): Omit<Arrival, 'forwarded'> {
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
