import type { Middleware } from 'koa';

/** Tells of each request by the pattern of its route, so that no id or secret of a path is told. */
export function measure(tell: (method: string, route: string, status: number, seconds: number) => void): Middleware {
  return async (ctx, next) => {
    const start = performance.now();
    await next();
    const matched = (ctx as { _matchedRoute?: unknown })._matchedRoute;
    const route = typeof matched === 'string' ? matched : ctx.path.startsWith('/ops/jobs') ? '/ops/jobs' : 'other';
    tell(METHODS.has(ctx.method) ? ctx.method : 'other', route, ctx.status, (performance.now() - start) / 1000);
  };
}

/** Clients may send any word as a method. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);
