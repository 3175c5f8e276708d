import cors from '@koa/cors';
import type { Middleware } from 'koa';

/** What a browser lets a page of another origin read besides the body. */
const EXPOSED = [
  ...['Request-Id', 'ETag', 'Retry-After', 'Idempotent-Replayed', 'Fatoura-Warnings', 'Allow', 'WWW-Authenticate'],
  ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy'],
  ...['Deprecation', 'Sunset', 'Link', 'Accept-Ranges', 'Content-Range', 'Content-Disposition'],
];
/** What such a page may send (viewers of PDFs ask for ranges); the last is graphql-sse's single connection token. */
const TAKEN = [
  ...['Authorization', 'Content-Type', 'Accept', 'Idempotency-Key', 'If-None-Match', 'Last-Event-ID', 'Cache-Control'],
  ...['Range', 'If-Range', 'X-GraphQL-Event-Stream-Token'],
];
/** As long as browsers keep a preflight's answer at most. */
const PREFLIGHT_SECONDS = 7200;

/**
 * The API and its documents for pages of any origin: front ends call with publishable keys and client secrets. No browser adds a credential
 * of its own accord here (no cookies), so another site's page can do only what its own credential can.
 */
export function crossOrigin(): { readonly mark: Middleware; readonly answerPreflight: Middleware } {
  const allow = cors({
    origin: '*',
    allowMethods: 'GET,HEAD,POST,PUT,PATCH,DELETE',
    allowHeaders: TAKEN,
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
    keepHeadersOnError: false,
  });
  const isOpen = (path: string) => /^\/(v1|graphql|files)(\/|$)/.test(path);
  return {
    mark: (ctx, next) => (ctx.method !== 'OPTIONS' && isOpen(ctx.path) ? allow(ctx, next) : next()),
    answerPreflight: (ctx, next) => (isPreflight(ctx) && isOpen(ctx.path) ? allow(ctx, next) : next()),
  };
}

/** Whether a browser asks what a page may send. */
export function isPreflight({ method, headers }: { method: string; headers: NodeJS.Dict<string | string[]> }): boolean {
  // Empty ones are none: what answers preflights (@koa/cors) would leave such a request to the routes, without a caller.
  return method === 'OPTIONS' && Boolean(headers.origin && headers['access-control-request-method']);
}
