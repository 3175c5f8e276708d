import type { Context, Middleware } from 'koa';
import type { Arrival } from '../../domain/api-key/admission.ts';
import type { Authenticate } from '../../domain/api-key/authenticate.ts';
import { ServiceError, serviceError } from '../../domain/errors.ts';
import type { Principal } from '../../domain/principal.ts';
import type { RateLimiter } from '../../domain/rate-limiter.ts';
import type { RequestState } from '../state.ts';

/** Paths of the API; a credential is read on these only. */
function needsCredential(path: string): boolean {
  return /^\/(v1|graphql)(\/|$)/.test(path);
}

/** Health checks and metrics are asked by machines at their own pace. */
function isUnlimited(path: string): boolean {
  return path === '/healthz' || path === '/readyz';
}

/**
 * Reads the credential and applies the rate limit that goes with it, the limit first (design, section 5, "order of checks"): a caller over
 * its limit gets 429 whatever its credential. Every answer carries the limit's headers.
 */
export function identify(authenticate: Authenticate, limiter: RateLimiter): Middleware {
  return async (ctx, next) => {
    if (isUnlimited(ctx.path)) return next();
    const state = ctx.state as RequestState;
    if (needsCredential(ctx.path)) state.identity = await identityOf(ctx, authenticate);
    const { limit, remaining, resetAt, allowed } = await limiter.consume(...bucketOf(ctx, state));
    const resetSeconds = Math.ceil(resetAt / 1000);
    ctx.set('X-RateLimit-Limit', String(limit));
    ctx.set('X-RateLimit-Remaining', String(remaining));
    ctx.set('X-RateLimit-Reset', String(resetSeconds));
    if (!allowed) {
      const wait = Math.max(1, Math.ceil((resetAt - Date.now()) / 1000));
      ctx.set('Retry-After', String(wait));
      throw serviceError('rate_limit_exceeded', `More than ${limit} requests in a minute. Try again in ${wait} s.`);
    }
    return next();
  };
}

async function identityOf(ctx: Context, authenticate: Authenticate): Promise<NonNullable<RequestState['identity']>> {
  try {
    return { principal: await authenticate(ctx.get('Authorization') || undefined, arrivalOf(ctx)) };
  } catch (error) {
    if (error instanceof ServiceError) return { refusal: error };
    throw error;
  }
}

function arrivalOf({ secure, ip, host }: Context): Arrival {
  return { encrypted: secure, address: ip, host };
}

function bucketOf(ctx: Context, state: RequestState): Parameters<RateLimiter['consume']> {
  const principal = state.identity && 'principal' in state.identity ? state.identity.principal : null;
  return principal ? bucketOfPrincipal(principal) : ['address', ctx.ip];
}

function bucketOfPrincipal(principal: Principal): Parameters<RateLimiter['consume']> {
  if (principal.kind === 'client') return ['publishable', principal.invoiceId];
  return [principal.kind, principal.keyId];
}
