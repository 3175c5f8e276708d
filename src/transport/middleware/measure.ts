import type { Context, Middleware } from 'koa';
import type { RequestState } from '../state.ts';

/** An answered request for the metrics. */
export interface MeasuredRequest {
  /** `other` for methods that the service does not know, because clients can send any word. */
  readonly method: string;
  /** The pattern of the route. */
  readonly route: string;
  readonly status: number;
  /** Whose credential the request had; null if it had none that is valid. */
  readonly tenantId: string | null;
  /** Time until the answer began. */
  readonly seconds: number;
  /** The request's place in a trace; null if it is not traced. */
  readonly traceparent: string | null;
}

/** Reports each request under the pattern of its route, so that no id or secret in a path gets into the metrics. */
export function measure(tell: (request: MeasuredRequest) => void): Middleware {
  return async (ctx, next) => {
    const start = performance.now();
    await next();
    tell({
      method: METHODS.has(ctx.method) ? ctx.method : 'other',
      route: routeOf(ctx),
      status: ctx.status,
      tenantId: (ctx.state as RequestState).tenantId ?? null,
      seconds: (performance.now() - start) / 1000,
      traceparent: (ctx.state as RequestState).span?.traceparent ?? null,
    });
  };
}

/** Returns the pattern of the route that handled a request. */
export function routeOf(ctx: Context): string {
  const matched = (ctx as { _matchedRoute?: unknown })._matchedRoute;
  if (typeof matched === 'string') return matched;
  return ctx.path.startsWith('/ops/jobs') ? '/ops/jobs' : 'other';
}

export const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
