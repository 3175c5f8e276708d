import type { Middleware } from 'koa';

/** Reports each request by the pattern of its route, so that no id or secret in a path gets into the metrics. */
export function measure(tell: (method: string, route: string, status: number, seconds: number) => void): Middleware {
  return async (ctx, next) => {
    const start = performance.now();
    await next();
    const matched = (ctx as { _matchedRoute?: unknown })._matchedRoute;
    const route = typeof matched === 'string' ? matched : ctx.path.startsWith('/ops/jobs') ? '/ops/jobs' : 'other';
    tell(METHODS.has(ctx.method) ? ctx.method : 'other', route, ctx.status, (performance.now() - start) / 1000);
  };
}

/** Other methods are reported as `other`, because clients can send any word as a method. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
