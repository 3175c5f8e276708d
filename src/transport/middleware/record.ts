import type { Context, Middleware } from 'koa';
import { isDocumentId } from '../../domain/invoice/kinds.ts';
import type { AnsweredRequest } from '../../domain/request-log/recorder.ts';
import { withKnownNames } from '../known-names.ts';
import type { RequestState } from '../state.ts';

/** Maximum length of a recorded text of the client. */
const LONGEST = 100;

/**
 * Records each answered request with an API key. Requests by pages and by an invoice's customer are not recorded,
 * because they are many and do not come from a program of the tenant. A stream is recorded when it opens.
 * @param unreachedRoute the pattern of the path of a request that was refused before it reached its route
 * @param names the names of the API's inputs; other names are not recorded
 */
export function recordRequests(
  record: (request: AnsweredRequest) => void,
  names: () => ReadonlySet<string>,
  unreachedRoute: (ctx: Context) => string | null,
): Middleware {
  return async (ctx, next) => {
    const at = new Date();
    const start = performance.now();
    await next();
    const { identity, requestId, failure = null, operation = null, createdId } = ctx.state as RequestState;
    if (!identity || !('principal' in identity)) return;
    const { principal } = identity;
    if (principal.kind !== 'secret' && principal.kind !== 'publishable') return;
    const matched = (ctx as { _matchedRoute?: unknown })._matchedRoute;
    const status = ctx.respond === false ? ctx.res.statusCode : ctx.status;
    record({
      id: requestId,
      at,
      status,
      tenantId: principal.tenant.id,
      environment: principal.environment,
      method: ctx.method.slice(0, 10),
      // A path of no route may contain anything, also secrets.
      route: typeof matched === 'string' ? matched : (unreachedRoute(ctx) ?? 'other'),
      operation: operation?.slice(0, LONGEST) ?? null,
      documentId: createdId ?? documentInPath(ctx),
      milliseconds: Math.round(performance.now() - start),
      code: failure?.code ?? (status >= 400 ? 'other' : null),
      param: failure?.param ? withKnownNames(failure.param.slice(0, LONGEST), names()) : null,
      keyId: principal.keyId,
    });
  };
}

/** Returns the id of the document in the path; null for any other value, which may be a secret. */
function documentInPath(ctx: Context): string | null {
  const { id } = ((ctx as { params?: unknown }).params ?? {}) as { readonly id?: string };
  return id !== undefined && isDocumentId(id) ? id : null;
}
