import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { currentActivity, within } from '../../domain/activity.ts';
import { ERRORS } from '../../domain/error-codes.ts';
import { internalError, ServiceError, serviceError } from '../../domain/errors.ts';
import type { Explain } from '../../graphql/execute.ts';
import { answerJson } from '../json.ts';
import { ASK_AGAIN_SECONDS, errorBody } from '../rest/errors.ts';
import type { RequestState } from '../state.ts';

/**
 * Stores the first error of the current request, for the request log.
 * @param code any value: in GraphQL a client chooses the names of its answer's fields, so only the contract's codes
 * count
 */
export function noteFailure(code: unknown, param: unknown): void {
  const state = currentActivity() as RequestState | undefined;
  if (!state?.requestId || state.failure || typeof code !== 'string' || !Object.hasOwn(ERRORS, code)) return;
  state.failure = { code, param: typeof param === 'string' ? param : null };
}

/**
 * Gives each request an id, and answers thrown errors with the contract's error body (docs/api/contract.md, "Errors").
 * Logs one line per request, without the query string.
 * @param explain converts an unexpected error to an answer, or logs it and returns null
 */
export function request(log: Logger, explain: Explain): Middleware {
  const handle: Middleware = async (ctx, next) => {
    const start = performance.now();
    const requestId: string = ctx.state.requestId;
    ctx.res.setHeader('Request-Id', requestId);
    if (!hasPath(ctx)) {
      ctx.url = '/';
      (ctx.state as RequestState).noTarget = true;
    }
    try {
      await next();
    } catch (error) {
      answer(error, requestId);
    }
    // Otherwise Koa answers an unmatched path with plain text.
    if (ctx.status === 404 && ctx.body == null && ctx.respond !== false) {
      answer(
        serviceError('resource_not_found', `There is nothing at ${ctx.method} ${ctx.path.slice(0, 200)}.`),
        requestId,
      );
    }
    // The cause of a 503 is known and has already been logged.
    const level = ctx.status >= 500 && ctx.status !== 503 ? 'error' : 'debug';
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        method: ctx.method,
        path: loggedPath(ctx.path),
        status: ctx.status,
        ms: Math.round(performance.now() - start),
      },
      'request',
    );

    function answer(error: unknown, id: string): void {
      const known = error instanceof ServiceError ? error : (explain(error) ?? internalError(id));
      noteFailure(known.code, known.param);
      if (known.status === 401) ctx.set('WWW-Authenticate', challengeOf(ctx));
      if (known.status === 503 && !ctx.res.hasHeader('Retry-After')) ctx.set('Retry-After', ASK_AGAIN_SECONDS);
      ctx.remove('ETag');
      answerJson(ctx, known.status, errorBody(known));
    }
  };
  return (ctx, next) => {
    ctx.state.requestId = `req_${randomUUID()}`;
    return within(ctx.state as RequestState, () => handle(ctx, next));
  };
}

/** Whether Koa can determine the path. For an invalid absolute URL (`http://`, `http://[`) it has none, or throws. */
function hasPath(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** Returns the challenge of a 401. It has no error code if no credential was sent (RFC 6750, section 3). */
function challengeOf(ctx: Context): string {
  const sent = ctx.headers.authorization !== undefined;
  return `Bearer realm="fatoura"${sent ? ', error="invalid_token"' : ''}`;
}

/** Removes secrets from a path: the capability of a document, or a client_secret or a key in place of an id. */
export function loggedPath(path: string): string {
  return path
    .replace(/^(\/files\/[^/]*\/).*/i, '$1…')
    .replace(/(_secret_|[sp]k_(?:live|test)_|whsec_)[^/]*/g, '$1…')
    .slice(0, 200);
}

/**
 * Sets the security headers of every answer. Uses Node's response as identify.ts does, because Koa's setter is slow.
 */
export function securityHeaders(): Middleware {
  return (ctx, next) => {
    const { res } = ctx;
    res.setHeader('X-Content-Type-Options', 'nosniff');
    // URLs may contain secrets, which must not be sent to other sites.
    res.setHeader('Referrer-Policy', 'no-referrer');
    // No page may be framed, against clickjacking. Documents may be, because tenants embed them in their pages.
    if (!ctx.path.startsWith('/files/')) res.setHeader('X-Frame-Options', 'DENY');
    // These answers contain data and secrets. `answerRead` allows private caching.
    if (hasSecrets(ctx.path)) res.setHeader('Cache-Control', 'no-store');
    if (ctx.secure) res.setHeader('Strict-Transport-Security', 'max-age=31536000');
    return next();
  };
}

function hasSecrets(path: string): boolean {
  return ['/v1/', '/graphql', '/exports/', '/auth/', '/ops/', '/embed/api/'].some((start) => path.startsWith(start));
}
