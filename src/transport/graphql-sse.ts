import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { specifiedRules, validate } from 'graphql';
import { createHandler, type Response, TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { documentLimits } from '../graphql/document-limits.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import { schema } from '../graphql/schema.ts';
import { readText } from './body.ts';
import { principalOf } from './state.ts';
import { createStreamTokens } from './stream-tokens.ts';
import { whenGone } from './when-gone.ts';

/** How long a reserved stream waits for the connection that reads it, milliseconds. */
const RESERVATION_MS = 60_000;

// graphql-sse wants a context with an index signature.
type SseContext = Record<string, unknown>;

/** `/graphql/stream`: the GraphQL over SSE protocol, distinct connections and single connection mode. */
export function graphqlOverSse(contextOf: (ctx: Context) => GraphQLContext, explain: Explain): Middleware {
  const tokens = createStreamTokens();
  const handler = createHandler<IncomingMessage, Context, SseContext>({
    schema,
    context: ({ context }) => contextOf(context) as unknown as SseContext,
    authenticate({ url, headers, context }) {
      const principal = principalOf(context);
      const owner = principal.kind === 'client' ? principal.invoiceId : principal.keyId;
      const given = headers.get(TOKEN_HEADER_KEY) ?? new URL(url, 'http://localhost').searchParams.get(TOKEN_QUERY_KEY);
      if (!given) return tokens.issue(owner);
      return tokens.isOf(given, owner) ? given : STREAM_NOT_FOUND;
    },
    validate: (...[ofSchema, document]) =>
      validate(ofSchema, document, [...specifiedRules, documentLimits]).map((error) => publicError(error, '', explain)),
    // Every result passes here, those of a subscription one by one.
    onNext: (context, _request, result) =>
      result.errors && {
        ...result,
        errors: result.errors.map((error) =>
          publicError(error, (context as unknown as GraphQLContext).requestId, explain),
        ),
      },
  });
  return async (ctx) => {
    principalOf(ctx);
    const answer = (method: string, url: string, accept: string | null, body: string) =>
      handler({
        method,
        url,
        headers: { get: (name) => (name === 'accept' ? accept : ctx.get(name) || null) },
        body,
        raw: ctx.req,
        context: ctx,
      });
    const text = ctx.method === 'GET' ? '' : await readText(ctx);
    const [body, init] = await answer(ctx.method, ctx.url, ctx.get('Accept') || null, text);
    if (ctx.method === 'PUT' && init.status === 201 && typeof body === 'string') {
      setTimeout(() => void giveBack(body), RESERVATION_MS).unref();
    }
    if (body === null && init.status >= 400) {
      // The library refuses without a word.
      for (const [name, value] of Object.entries(init.headers ?? {})) if (value !== undefined) ctx.set(name, value);
      throw serviceError('invalid_request', REFUSALS[init.status] ?? 'The request is not valid.', null, init.status);
    }
    // Koa would turn an empty 202 into 204, which the protocol's clients do not take.
    ctx.respond = false;
    const { res } = ctx;
    if (body !== null && typeof body !== 'string') whenGone(res, () => void body.return(undefined));
    res.writeHead(init.status, {
      ...init.headers,
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
    if (body === null || typeof body === 'string') return void res.end(body ?? '');
    try {
      for await (const chunk of body) {
        if (res.closed || res.destroyed) break;
        if (!res.write(chunk)) await Promise.race([once(res, 'drain'), once(res, 'close')]);
      }
    } finally {
      res.end();
    }

    /** Ends a reservation that nobody has come for, with what it holds. One that is in use, or over, stays as it is. */
    async function giveBack(token: string): Promise<void> {
      const [stream] = await answer('GET', `/?${TOKEN_QUERY_KEY}=${token}`, 'text/event-stream', '');
      if (stream !== null && typeof stream !== 'string') await stream.return(undefined);
    }
  };
}

const REFUSALS: Readonly<Record<number, string>> = {
  405: 'This method is not possible here; use GET, POST, PUT or DELETE.',
  406: 'The Accept header must take text/event-stream, or application/json in single connection mode.',
  415: 'Send the operation with Content-Type: application/json.',
};

const STREAM_NOT_FOUND: Response = [
  JSON.stringify({ errors: [{ message: 'Stream not found' }] }),
  { status: 404, statusText: 'Not Found', headers: { 'content-type': 'application/json; charset=utf-8' } },
];
