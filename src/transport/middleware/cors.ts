import cors from '@koa/cors';
import type { Middleware } from 'koa';

/** The response headers that pages of other origins can read. */
const EXPOSED = [
  'Request-Id',
  'ETag',
  'Retry-After',
  'Idempotent-Replayed',
  'Fatoura-Warnings',
  'Allow',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Deprecation',
  'Sunset',
  'Link',
  'Accept-Ranges',
  'Content-Range',
  'Content-Disposition',
];
/**
 * The request headers that pages of other origins may send. PDF viewers use ranges. Tracing libraries add their headers
 * to each request of a page (W3C Trace Context and Baggage, Sentry), and Apollo's client adds its name. Browsers would
 * send no such request if these headers were missing here.
 */
const ALLOWED = [
  'Authorization',
  'Content-Type',
  'Accept',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'Cache-Control',
  'Range',
  'If-Range',
  'X-GraphQL-Event-Stream-Token',
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'apollographql-client-name',
  'apollographql-client-version',
];
/** How long browsers may cache the answer to a preflight: the longest time that they accept. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Opens the API, the documents and the element that shows an invoice to pages of every origin, because front ends call
 * with publishable keys and client secrets. The cookie of a signed-in person is accepted only together with headers
 * that are not allowed here (`identify`), so such a page can only do what its own credential allows.
 */
export function crossOrigin(): { readonly mark: Middleware; readonly answerPreflight: Middleware } {
  const allow = cors({
    origin: '*',
    allowMethods: 'GET,HEAD,POST,PUT,PATCH,DELETE',
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: PREFLIGHT_SECONDS,
    keepHeadersOnError: false,
  });
  const isOpen = (path: string) => /^\/(v1|graphql|files|live)(\/|$)/.test(path);
  return {
    mark: (ctx, next) => (ctx.method !== 'OPTIONS' && isOpen(ctx.path) ? allow(ctx, next) : next()),
    answerPreflight: (ctx, next) => (isPreflight(ctx) && isOpen(ctx.path) ? allow(ctx, next) : next()),
  };
}

/** Whether a request is a CORS preflight. */
export function isPreflight({ method, headers }: { method: string; headers: NodeJS.Dict<string | string[]> }): boolean {
  // Empty headers do not count: @koa/cors would pass such a request on to the routes, without a caller.
  return method === 'OPTIONS' && Boolean(headers.origin && headers['access-control-request-method']);
}
