import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import { ServiceError, serviceError } from '../../domain/errors.ts';
import { errorBody } from '../rest/errors.ts';

const requestIds = new AsyncLocalStorage<string>();

/** The id of the request that the present code runs for; every log line carries it. */
export function currentRequestId(): string | undefined {
  return requestIds.getStore();
}

/** Gives each request an id, answers what is thrown in the specification's error shape, and logs one line without the query string. */
export function request(log: Logger): Middleware {
  return async (ctx, next) => {
    const start = performance.now();
    const requestId = `req_${randomUUID()}`;
    ctx.state.requestId = requestId;
    ctx.set('Request-Id', requestId);
    try {
      await requestIds.run(requestId, next);
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
    const level = ctx.status >= 500 ? 'error' : 'debug';
    log[level](
      {
        requestId,
        method: ctx.method,
        path: loggedPath(ctx.path),
        status: ctx.status,
        ms: Math.round(performance.now() - start),
      },
      'request',
    );

    function answer(error: unknown, id: string): void {
      const known = error instanceof ServiceError ? error : internalError(error, id);
      ctx.status = known.status;
      if (known.status === 401) ctx.set('WWW-Authenticate', 'Bearer realm="fatoura"');
      ctx.body = errorBody(known);
    }

    function internalError(error: unknown, id: string): ServiceError {
      log.error({ requestId: id, err: error }, 'a request failed');
      return serviceError('internal_error', `Something went wrong on our side. Quote the request id ${id} to support.`);
    }
  };
}

/** A path without the secrets that may stand in it: a document's capability, a client_secret in the place of an id. */
export function loggedPath(path: string): string {
  return path
    .replace(/^(\/files\/[^/]*\/).*/i, '$1…')
    .replace(/(_secret_)[^/]*/g, '$1…')
    .slice(0, 200);
}

/** Headers that every answer carries. */
export function securityHeaders(): Middleware {
  return async (ctx, next) => {
    ctx.set('X-Content-Type-Options', 'nosniff');
    // Secrets may stand in addresses: they go no further.
    ctx.set('Referrer-Policy', 'no-referrer');
    if (ctx.secure) ctx.set('Strict-Transport-Security', 'max-age=31536000');
    await next();
  };
}
