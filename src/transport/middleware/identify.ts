import type { Context, Middleware } from 'koa';
import type { Authenticate } from '../../domain/api-key/authenticate.ts';
import type { LimitKind, LimitState, RateLimiter } from '../../domain/api-key/rate-limiter.ts';
import type { Arrival } from '../../domain/arrival.ts';
import { ServiceError, serviceError } from '../../domain/errors.ts';
import type { AuthenticateSession } from '../../domain/person/authenticate-session.ts';
import { callerOf, isMember, type Principal } from '../../domain/principal.ts';
import { ENVIRONMENTS, type Environment } from '../../domain/tenant/tenant.ts';
import { ask } from '../ask.ts';
import { browserOf, originOf } from '../browser-facts.ts';
import { limitedAddress } from '../client-address.ts';
import { isOwnPage } from '../own-page.ts';
import type { RequestState } from '../state.ts';
import { authorizationOf } from '../stream-credential.ts';
import { isPreflight } from './cors.ts';

/** The headers in which a page names the tenant and the environment that it shows. */
const TENANT = 'Fatoura-Tenant';
const ENVIRONMENT = 'Fatoura-Environment';

export interface IdentifyParts {
  readonly authenticate: Authenticate;
  readonly authenticateSession: AuthenticateSession;
  readonly limiter: RateLimiter;
  /** Whether a request came through a proxy that is not trusted. */
  readonly forwarded: (ctx: Context) => boolean;
}

/** Whether a path needs a credential: the paths of the API, except its description, and of exports and imports. */
export function needsCredential(path: string): boolean {
  return /^\/(v1|graphql|exports|imports)(\/|$)/.test(path) && path !== '/v1/openapi.json';
}

/** Health checks have no rate limit, because monitoring systems choose their own interval. */
function isUnlimited(path: string): boolean {
  return path === '/healthz' || path === '/readyz';
}

/**
 * Whether a path belongs to a file that is the same for everybody: the documentation, and the element for pages of
 * other sites. Agents read the whole documentation, and all visitors behind an address load the element. Neither may
 * use up the requests that people at this address need for signing in.
 */
function isCommon(path: string): boolean {
  return /^\/(docs|live|llms\.txt)(\/|$)/.test(path);
}

/**
 * Reads the credential and applies its rate limit. The limit is checked first (docs/decisions/0011): a caller beyond
 * its limit gets 429, even if its credential is refused. Every answer has the headers of the limit. Health checks are
 * not counted, so that monitoring is never refused and needs no store; their headers show an unused window.
 */
export function identify({ limiter, ...parts }: IdentifyParts): Middleware {
  return async (ctx, next) => {
    if (isUnlimited(ctx.path)) {
      showLimit(ctx, limiter.uncounted('address'));
      return next();
    }
    const state = ctx.state as RequestState;
    // Browsers send preflights without a credential, and they are not counted.
    const preflight = isPreflight(ctx);
    if (needsCredential(ctx.path) && !preflight) await ask(ctx, () => identifyCaller(ctx, parts));
    if (state.identity && 'principal' in state.identity) noteCaller(state, state.identity.principal);
    try {
      await count(ctx, limiter, preflight ? 0 : 1);
    } catch (failure) {
      // The limits are in the store, and the metrics matter most during its outage.
      if (ctx.path !== '/metrics' || failure instanceof ServiceError) throw failure;
      showLimit(ctx, limiter.uncounted('address'));
    }
    return next();
  };
}

/**
 * Stores the caller in the request's state, or the error of its authentication. The error is thrown later, because the
 * limit is counted first and every answer shows the limit. When repeated after the body, it updates what the caller may
 * do.
 * @throws the refusal of a caller whose credential was valid before
 */
async function identifyCaller(ctx: Context, parts: Omit<IdentifyParts, 'limiter'>): Promise<void> {
  const state = ctx.state as RequestState;
  const identity = await identityOf(ctx, parts);
  if (state.identity && 'refusal' in identity) throw identity.refusal;
  state.identity = identity;
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

/** Counts requests and sets the limit's headers. @param requests 0 only reads the state of the limit */
async function count(ctx: Context, limiter: RateLimiter, requests: number): Promise<void> {
  const states = await Promise.all(
    bucketsOf(ctx, ctx.state as RequestState).map(([kind, id, limit]) => limiter.consume(kind, id, requests, limit)),
  );
  const limit = tightest(states);
  showLimit(ctx, limit);
  if (limit.allowed || requests === 0) return;
  const wait = secondsLeft(limit);
  ctx.set('Retry-After', String(wait));
  throw serviceError('rate_limit_exceeded', `More than ${limit.limit} requests in a minute. Try again in ${wait} s.`);
}

/**
 * Converts the state of a limit to headers: those of the contract (docs/api/contract.md, "Limits"; the reset in UNIX
 * seconds), and those of the IETF draft "RateLimit header fields for HTTP".
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
  { authenticate, authenticateSession, forwarded }: Omit<IdentifyParts, 'limiter'>,
): Promise<NonNullable<RequestState['identity']>> {
  try {
    const arrival = { ...arrivalOf(ctx), forwarded: forwarded(ctx) };
    if (!usesSession(ctx)) return from(ctx, await authenticate(authorizationOf(ctx), arrival));
    const chosen = { tenantId: ctx.get(TENANT), environment: chosenEnvironment(ctx) };
    const { result, cookies } = await authenticateSession(browserOf(ctx), chosen, arrival);
    for (const cookie of cookies) ctx.append('Set-Cookie', cookie);
    return from(ctx, result);
  } catch (refusal) {
    return { refusal };
  }
}

/** Stores the tenant or the invoice of the caller in the request's state, for the log and traces. */
function noteCaller(state: RequestState, principal: Principal): void {
  if (principal.kind === 'client') state.invoiceId = principal.invoiceId;
  else state.tenantId = principal.tenant.id;
}

/** Adds the origin of the request to a caller that may make changes. */
function from(ctx: Context, principal: Principal): { readonly principal: Principal } {
  return { principal: isMember(principal) ? { ...principal, origin: originOf(ctx) } : principal };
}

/**
 * Whether the session in the browser's cookie is the credential of a request. It is for GraphQL requests, exports and
 * imports by a page of this service. Pages of other sites cannot send the tenant's header, because no preflight allows
 * it.
 */
function usesSession(ctx: Context): boolean {
  if (ctx.get(TENANT) === '' || ctx.get('Authorization') !== '' || !/^\/(graphql|exports|imports)(\/|$)/.test(ctx.path))
    return false;
  if (isOwnPage(ctx)) return true;
  throw serviceError('insufficient_scope', 'Only pages of this service may use the session of a browser.');
}

function chosenEnvironment(ctx: Context): Environment {
  const chosen = ENVIRONMENTS.find((each) => each === ctx.get(ENVIRONMENT));
  if (chosen) return chosen;
  throw serviceError('invalid_request', `The header must be ${ENVIRONMENTS.join(' or ')}.`, ENVIRONMENT);
}

function arrivalOf({ secure, ip, host }: Context): Omit<Arrival, 'forwarded'> {
  return { encrypted: secure, address: ip, host };
}

/** Returns the limit that refuses the request, otherwise the one that will be reached first. */
function tightest(states: readonly LimitState[]): LimitState {
  const left = ({ allowed, remaining }: LimitState) => (allowed ? remaining : -1);
  return states.reduce((least, each) => (left(each) < left(least) ? each : least));
}

/** A window in which a request counts: its kind, its owner, and the owner's own limit if there is one. */
type Bucket = readonly [LimitKind, string, (number | undefined)?];

function bucketsOf(ctx: Context, state: RequestState): readonly Bucket[] {
  const principal = state.identity && 'principal' in state.identity ? state.identity.principal : null;
  if (principal) return bucketsOfPrincipal(principal);
  return [[isCommon(ctx.path) ? 'common' : 'address', limitedAddress(ctx.ip)]];
}

function bucketsOfPrincipal(principal: Principal): readonly Bucket[] {
  if (principal.kind !== 'secret') return [['publishable', callerOf(principal)]];
  const { tenant, environment } = principal;
  return [
    ['secret', callerOf(principal)],
    ['tenant', `${tenant.id}:${environment}`, tenant.requestsPerMinute],
  ];
}
