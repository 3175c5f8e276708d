import type { Middleware } from 'koa';
import { readTraceparent, type Tracing, traceIdOf } from '../../domain/tracing.ts';
import type { RequestState } from '../state.ts';
import { METHODS, routeOf } from './measure.ts';

/**
 * Paths that monitoring systems request all the time, and files of pages. Their traces would hide those of invoices.
 */
const UNTRACED = /^\/(healthz|readyz|metrics|assets\/.*)$/;

/**
 * Records each request as a span, in the trace of the client's `traceparent` if it sends one. The span has the route
 * and the status, but not the path, which may contain a secret, nor the sender.
 */
export function trace(tracing: Tracing): Middleware {
  return async (ctx, next) => {
    if (UNTRACED.test(ctx.path)) return next();
    const method = METHODS.has(ctx.method) ? ctx.method : '_OTHER';
    const span = tracing.begin(method === '_OTHER' ? 'HTTP' : method, {
      kind: 'server',
      parent: readTraceparent(ctx.get('traceparent')),
      attributes: { 'http.request.method': method, 'url.scheme': ctx.protocol },
    });
    if (span === null) return next();
    const state = ctx.state as RequestState;
    state.span = span;
    state.traceId = traceIdOf(span.traceparent);
    try {
      await next();
    } finally {
      const route = routeOf(ctx);
      const status = ctx.respond === false ? ctx.res.statusCode : ctx.status;
      span.rename(`${method === '_OTHER' ? 'HTTP' : method} ${route}`);
      span.set({
        'http.route': route,
        'http.response.status_code': status,
        ...(state.tenantId !== undefined && { 'fatoura.tenant.id': state.tenantId }),
        ...(state.failure && { 'fatoura.error.code': state.failure.code }),
      });
      if (status >= 500) span.fail(String(status));
      span.end();
    }
  };
}
