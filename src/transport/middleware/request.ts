import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import { internalError, ServiceError, serviceError } from '../../domain/errors.ts';
import type { Explain } from '../../graphql/execute.ts';
import { answerJson } from '../json.ts';
import { errorBody } from '../rest/errors.ts';
import type { RequestState } from '../state.ts';

const requestIds = new AsyncLocalStorage<string>();

/** The id of the request that the present code runs for; every log line carries it. */
export function currentRequestId(): string | undefined {
  return requestIds.getStore();
}

/**
 * Gives each request an id, answers what is thrown in the contract's error shape, and logs one line without the query string.
 * @param explain what a failure is that nobody has foreseen
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
    // Koa answers an unmatched path with a plain text otherwise.
    if (ctx.status === 404 && ctx.body == null && ctx.respond !== false) {
      answer(
        serviceError('resource_not_found', `There is nothing at ${ctx.method} ${ctx.path.slice(0, 200)}.`),
        requestId,
      );
    }
    // 503 is the answer of a service that knows what it lacks, and has said so.
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
      if (known.status === 401) ctx.set('WWW-Authenticate', challengeOf(ctx));
      if (known.status === 503 && !ctx.res.hasHeader('Retry-After')) ctx.set('Retry-After', '2');
      ctx.remove('ETag');
      answerJson(ctx, known.status, errorBody(known));
    }
  };
  return (ctx, next) => {
    ctx.state.requestId = `req_${randomUUID()}`;
    return requestIds.run(ctx.state.requestId, () => handle(ctx, next));
  };
}

/** Of an absolute address that is damaged (`http://`, `http://[`) Koa has no path, or throws whenever it is asked for it. */
function hasPath(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}

/** RFC 6750, section 3: nothing is said of a credential that was not sent. */
function challengeOf(ctx: Context): string {
  const sent = ctx.headers.authorization !== undefined;
  return `Bearer realm="fatoura"${sent ? ', error="invalid_token"' : ''}`;
}

/** A path without the secrets that may stand in it: a document's capability, a client_secret or a key in the place of an id. */
export function loggedPath(path: string): string {
  return path
    .replace(/^(\/files\/[^/]*\/).*/i, '$1…')
    .replace(/(_secret_|[sp]k_(?:live|test)_|whsec_)[^/]*/g, '$1…')
    .slice(0, 200);
}

/** Headers that every answer carries. They are set on Node's answer, here as in identify.ts: Koa's way costs more than the header. */
export function securityHeaders(): Middleware {
  return (ctx, next) => {
    const { res } = ctx;
    res.setHeader('X-Content-Type-Options', 'nosniff');
    // Secrets may stand in addresses: they go no further.
    res.setHeader('Referrer-Policy', 'no-referrer');
    // Pages are shown in no frame, where a click might be led astray; a document may be shown in its tenant's.
    if (!ctx.path.startsWith('/files/')) res.setHeader('X-Frame-Options', 'DENY');
    // Answers of the API hold data and secrets; a read says so when it may be kept.
    if (isApi(ctx.path)) res.setHeader('Cache-Control', 'no-store');
    if (ctx.secure) res.setHeader('Strict-Transport-Security', 'max-age=31536000');
    return next();
  };
}

function isApi(path: string): boolean {
  return path.startsWith('/v1/') || path.startsWith('/graphql');
}
