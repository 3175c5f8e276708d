import { Router, type RouterMiddleware } from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { Authenticate } from '../domain/api-key/authenticate.ts';
import type { RateLimiter } from '../domain/api-key/rate-limiter.ts';
import { type ServiceError, serviceError } from '../domain/errors.ts';
import { isDocumentId } from '../domain/invoice/kinds.ts';
import type { ExportArchive } from '../domain/invoice/periods/export-archive.ts';
import type { ExportDeclaration } from '../domain/invoice/periods/export-declaration.ts';
import type { ReadDocument } from '../domain/invoice/read-document.ts';
import type { VerifyPublicly } from '../domain/invoice/verify-publicly.ts';
import type { AuthenticateSession } from '../domain/person/authenticate-session.ts';
import { requireScope } from '../domain/principal.ts';
import type { AnsweredRequest } from '../domain/request-log/recorder.ts';
import type { Tracing } from '../domain/tracing.ts';
import { accessOf } from '../graphql/access.ts';
import type { GraphQLContext, UseCases } from '../graphql/context.ts';
import type { Explain } from '../graphql/execute.ts';
import { accountRoutes } from './accounts/account-routes.ts';
import type { AccountRouteParts } from './accounts/steps.ts';
import { type AuthorityCallbackParts, authorityCallback } from './authority-callback.ts';
import { forwardedAddress } from './client-address.ts';
import { dashboard, PAGES } from './dashboard/routes.ts';
import { documentation } from './docs/routes.ts';
import { type EmbeddingParts, embeddingRoutes } from './embedding.ts';
import { files } from './files.ts';
import { untrustedForwarding } from './forwarding.ts';
import { type GraphqlParts, graphqlOverHttp } from './graphql.ts';
import { graphqlOverSse } from './graphql-sse.ts';
import { countOf, MAX_HEADERS } from './headers.ts';
import { type ImportRouteParts, importRoutes } from './imports.ts';
import { answerRead } from './json.ts';
import { namesOfInputs } from './known-names.ts';
import { liveElement } from './live-element.ts';
import { compressReads } from './middleware/compress.ts';
import { crossOrigin } from './middleware/cors.ts';
import { type CountRequests, countingBy, identify, needsCredential } from './middleware/identify.ts';
import { type MeasuredRequest, measure } from './middleware/measure.ts';
import { recordRequests } from './middleware/record.ts';
import { request, securityHeaders } from './middleware/request.ts';
import { trace } from './middleware/trace.ts';
import { limitUnread } from './middleware/unread-answers.ts';
import { type OperatorRouteParts, operatorRoutes } from './operator-routes.ts';
import { periodExports } from './period-exports.ts';
import { type Ready, readinessOf, type Warnings } from './readiness.ts';
import { releasable } from './release-request.ts';
import { openApiDocument } from './rest/openapi.ts';
import type { RestParts } from './rest/route.ts';
import { ROUTES } from './rest/routes.ts';
import { countingDocuments } from './running-documents.ts';
import { principalOf, type RequestState, requestIdOf } from './state.ts';
import { verification } from './verify/routes.ts';

export interface ServerParts extends RestParts {
  readonly log: Logger;
  readonly authenticate: Authenticate;
  readonly authenticateSession: AuthenticateSession;
  readonly limiter: RateLimiter;
  readonly useCases: UseCases;
  readonly readDocument: ReadDocument;
  readonly exportDeclaration: ExportDeclaration;
  readonly exportArchive: ExportArchive;
  readonly verifyPublicly: VerifyPublicly;
  /** Returns the answer to a failure that an outage of the store caused; null for any other failure. */
  readonly unavailable: (failure: unknown) => ServiceError | null;
  readonly graphql: GraphqlParts;
  /** Null if the authority sends no callbacks; then the path does not exist. */
  readonly authorityCallback: AuthorityCallbackParts | null;
  readonly accounts: AccountRouteParts;
  readonly embedding: EmbeddingParts;
  readonly imports: Omit<ImportRouteParts, 'useCases' | 'streams'>;
  /** Serves the job dashboard and the metrics. */
  readonly operations: Middleware;
  readonly operatorRoutes: OperatorRouteParts;
  /** Called for each request. */
  readonly measured: (request: MeasuredRequest) => void;
  /** null if nothing is traced. */
  readonly tracing: Tracing | null;
  /** Called for each request with an API key. */
  readonly recorded: (request: AnsweredRequest) => void;
  readonly ready: Ready;
  readonly warnings: Warnings;
  /** The address of the service for clients, without a trailing slash. */
  readonly publicUrl: string;
  /**
   * Number of proxies in front that set `X-Forwarded-*`. With 0 these headers are ignored, because clients can set
   * them.
   */
  readonly trustedProxies: number;
}

/**
 * Codes of errors after a client has disconnected, possibly within a body. They do not count as failures of this
 * service.
 */
const DISCONNECTED = /^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_.*)$/;

let known: ReadonlySet<string> | null = null;

/** Returns the names of the API's inputs. The first failed request collects them. */
function knownNames(): ReadonlySet<string> {
  known ??= namesOfInputs(description());
  return known;
}

let described: ReturnType<typeof openApiDocument> | null = null;

/** Returns the OpenAPI document. The first request makes it, because it would delay each start. */
function description(): ReturnType<typeof openApiDocument> {
  described ??= openApiDocument(ROUTES);
  return described;
}

/** Creates the HTTP server's application: middleware in order, then the routes. */
export function createServer(parts: ServerParts): Koa {
  const { log, useCases } = parts;
  const app = new Koa({ proxy: parts.trustedProxies > 0, maxIpsCount: parts.trustedProxies });
  app.on('error', (err: NodeJS.ErrnoException) => {
    const level = DISCONNECTED.test(err.code ?? '') ? 'debug' : 'error';
    log[level]({ err }, 'Koa reports an error');
  });
  const contextOf = (ctx: Context): GraphQLContext => ({
    // A getter, because the caller's permissions may have changed once the body was read.
    get principal() {
      return principalOf(ctx);
    },
    requestId: requestIdOf(ctx),
    useCases,
  });

  const explain: Explain = (failure) => {
    const known = parts.unavailable(failure);
    if (known) log.debug({ err: failure }, 'the store is unreachable');
    else log.error({ err: failure }, 'a request failed');
    return known;
  };
  const cross = crossOrigin();
  const count = countingBy(parts.limiter);

  const router = new Router({ sensitive: true, strict: true });
  for (const route of ROUTES) {
    router.register(route.path, [route.method], (async (ctx: Context) => {
      const graphql = contextOf(ctx);
      const { id } = ctx.params as { readonly id?: string };
      if (id !== undefined && isDocumentId(id)) (ctx.state as RequestState).invoiceId = id;
      if (route.useCase !== null) requireScope(graphql.principal, accessOf(route.useCase).scope);
      await route.handle(ctx, graphql, parts);
    }) as RouterMiddleware);
  }
  router.get('/v1/openapi.json', (ctx) => answerRead(ctx as Context, description()));
  const { streams, graphql } = parts;
  const subscribe = countingDocuments(graphql.gate, streams.unread);
  router.all('/graphql', graphqlOverHttp(contextOf, explain, streams, graphql, count, subscribe) as RouterMiddleware);
  router.all(
    '/graphql/stream',
    graphqlOverSse(contextOf, explain, streams, graphql.gate, count, subscribe) as RouterMiddleware,
  );
  router.get('/files/:id/:file', files(parts.readDocument) as RouterMiddleware);
  router.get('/exports/:period/:file', periodExports(parts) as RouterMiddleware);
  for (const [method, path, handle] of importRoutes({ ...parts.imports, useCases, streams: parts.streams }))
    router.register(path, [method], handle as RouterMiddleware);
  const verify = verification(parts.verifyPublicly);
  router.get('/verify/:id', verify.show as RouterMiddleware);
  router.post('/verify/:id', verify.check as RouterMiddleware);
  const pages = dashboard(parts.publicUrl);
  for (const path of PAGES) router.get(path, ((ctx) => pages.showPage(ctx)) as RouterMiddleware);
  for (const [method, path, handle] of embeddingRoutes(parts.embedding, pages.showPage, {
    ...parts,
    watchInvoice: useCases.watchInvoice,
  }))
    router.register(path, [method], handle as RouterMiddleware);
  router.get('/assets/:file', pages.showAsset as RouterMiddleware);
  for (const [path, handle] of liveElement(parts.publicUrl)) router.get(path, handle as RouterMiddleware);
  for (const [method, path, handle] of accountRoutes(parts.accounts))
    router.register(path, [method], handle as RouterMiddleware);
  for (const [method, path, handle] of operatorRoutes(parts.operatorRoutes))
    router.register(path, [method], handle as RouterMiddleware);
  for (const [path, handle] of documentation()) router.get(path, handle as RouterMiddleware);
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'alive' };
  });
  router.get('/readyz', async (ctx) => {
    const { status, body } = await readinessOf(parts, new URLSearchParams(ctx.querystring));
    ctx.status = status;
    ctx.body = body;
  });

  app.use(releasable());
  if (parts.trustedProxies > 0) {
    app.use((ctx, next) => {
      ctx.request.ip = forwardedAddress(ctx.request.ip);
      return next();
    });
  }
  app.use(measure(parts.measured));
  if (parts.tracing) app.use(trace(parts.tracing));
  app.use(
    recordRequests(parts.recorded, knownNames, (ctx) => {
      const path = router.match(ctx.path, ctx.method).pathAndMethod.at(-1)?.path;
      return typeof path === 'string' ? path : null;
    }),
  );
  app.use(request(log, explain));
  app.use(securityHeaders());
  app.use(cross.mark);
  app.use(compressReads());
  app.use(limitUnread(parts.streams.unread));
  app.use(fewHeaders(count));
  if (parts.authorityCallback) app.use(authorityCallback(parts.authorityCallback, count));
  app.use(identify({ ...parts, forwarded: untrustedForwarding(parts.trustedProxies, log) }));
  app.use(cross.answerPreflight);
  app.use(wellFormed);
  app.use(parts.operations);
  app.use(router.routes());
  app.use(unknownPage(pages.showPage));
  app.use(unmatched(router));
  return app;
}

/** Refuses a request with too many headers before any is read, because Node has dropped those beyond the limit. */
function fewHeaders(count: CountRequests): Middleware {
  return async (ctx, next) => {
    if (ctx.req.rawHeaders.length <= 2 * MAX_HEADERS) return next();
    await count(ctx, 1);
    throw serviceError('invalid_request', `A request may have at most ${MAX_HEADERS} headers.`, null, 431);
  };
}

/** Maximum number of parameters of a request. Koa's parser takes quadratic time for a repeated parameter. */
const MAX_PARAMETERS = 100;

/**
 * Refuses requests that RFC 9112 (section 3.2) and RFC 9110 (section 10.1.1) forbid but Node accepts, or refuses
 * without an error body. Also refuses too many parameters, before any route parses them.
 */
const wellFormed: Middleware = (ctx, next) => {
  if ((ctx.state as RequestState).noTarget)
    throw serviceError('invalid_request', 'The request target is not a valid URL.');
  if (ctx.querystring.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS)
    throw serviceError('invalid_request', `A request may have at most ${MAX_PARAMETERS} parameters.`);
  const { expect, host } = ctx.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw serviceError('invalid_request', 'The only supported expectation is 100-continue.', 'Expect', 417);
  const hosts = countOf(ctx, 'host');
  if (hosts > 1 || (hosts === 0 && ctx.req.httpVersion === '1.1'))
    throw serviceError('invalid_request', 'The header Host must be sent once.', 'Host');
  if (host && !isHost(host))
    throw serviceError('invalid_request', 'The header Host must be a host and a port.', 'Host');
  return next();
};

/** Whether a text is a host with an optional port, without user information (RFC 9110, section 7.2). */
function isHost(value: string): boolean {
  return !/[\s/?#@\\]/.test(value) && URL.canParse(`http://${value}`);
}

/** The paths of the interfaces, which answer with their own errors, also to a browser. */
const INTERFACES = /^\/(v\d+|graphql|auth|ops\/api|embed\/api)(\/|$)/;

/** Shows a page for an unknown address to a browser that opens one. Programs get the error of the API. */
function unknownPage(showPage: (ctx: Context) => Promise<void>): Middleware {
  return async (ctx, next) => {
    const isOpened = ctx.method === 'GET' && ctx.get('Sec-Fetch-Dest') === 'document';
    if (!isOpened || ('_matchedRoute' in ctx && ctx._matchedRoute) || INTERFACES.test(ctx.path)) return next();
    ctx.status = 404;
    await showPage(ctx);
  };
}

/**
 * Answers requests that no route handled: first 401 on API paths without a valid credential; then, if the path has
 * other methods, 204 for OPTIONS or 405; otherwise 404.
 */
function unmatched(router: Router): Middleware {
  return async (ctx) => {
    if ('_matchedRoute' in ctx && ctx._matchedRoute) return;
    if (/^\/v1(\/|$)/.test(ctx.path) && needsCredential(ctx.path)) principalOf(ctx);
    const methods = [...new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods))];
    if (methods.length === 0)
      throw serviceError(
        'resource_not_found',
        `There is nothing at ${ctx.path.slice(0, 200)}.${adviceOn(ctx.path, router)}`,
      );
    ctx.set('Allow', methods.join(', '));
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      return;
    }
    throw serviceError('invalid_request', `${ctx.method} is not allowed here. Use ${methods.join(' or ')}.`, null, 405);
  };
}

/** Returns a hint at the path that the client may have meant, or an empty text. */
function adviceOn(path: string, router: Router): string {
  if (/^\/v\d[^/]*\//.test(path) && !path.startsWith('/v1/')) return ' The only version of the interface is v1: /v1/….';
  let end = path.length;
  // Not a regular expression, which would restart at each slash and take quadratic time.
  while (path[end - 1] === '/') end--;
  const shorter = path.slice(0, end);
  return shorter !== path && router.match(shorter, 'GET').path.length > 0 ? ' Remove the trailing slash.' : '';
}
