import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ExecutionResult, execute, GraphQLError, subscribe } from 'graphql';
import { createHandler } from 'graphql-sse';
import { createYoga } from 'graphql-yoga';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { GraphQLContext } from '../graphql/context.ts';
import { publicError } from '../graphql/execute.ts';
import { schema } from '../graphql/schema.ts';
import { readText } from './body.ts';
import { currentRequestId } from './middleware/request.ts';
import { principalOf } from './state.ts';

// graphql-sse wants a context with an index signature.
type SseContext = Record<string, unknown>;
type ContextOf = (ctx: Context) => GraphQLContext;

/** POST and GET `/graphql`, with Yoga's own Server-Sent Events and, for a browser that asks for a page, GraphiQL. */
export function graphqlOverHttp(contextOf: ContextOf, log: Logger): Middleware {
  const yoga = createYoga<{ ctx: Context }, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    logging: false,
    context: ({ ctx }) => contextOf(ctx),
    maskedErrors: {
      maskError: (error, _message, _isDev) => {
        const wrapped = error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error });
        return publicError(wrapped, currentRequestId() ?? '', (err) => log.error({ err }, 'a resolver failed'));
      },
    },
  });
  return async (ctx) => {
    const page =
      ctx.method === 'GET' &&
      ctx.query.query === undefined &&
      ctx.accepts('html', 'json', 'text/event-stream') === 'html';
    if (!page) principalOf(ctx);
    await keepBody(ctx);
    ctx.respond = false;
    await yoga(ctx.req, ctx.res, { ctx });
  };
}

/** `/graphql/stream`: the GraphQL over SSE protocol, distinct connections and single connection mode. */
export function graphqlOverSse(contextOf: ContextOf, log: Logger): Middleware {
  const publish = (result: ExecutionResult, { requestId }: GraphQLContext): ExecutionResult =>
    result.errors
      ? {
          ...result,
          errors: result.errors.map((error) =>
            publicError(error, requestId, (err) => log.error({ err }, 'a resolver failed')),
          ),
        }
      : result;
  const handler = createHandler<IncomingMessage, Context, SseContext>({
    schema,
    context: (request) => contextOf(request.context) as unknown as SseContext,
    execute: async (args) => publish(await execute(args), args.contextValue as unknown as GraphQLContext),
    subscribe: async (args) => {
      const result = await subscribe(args);
      return Symbol.asyncIterator in result ? result : publish(result, args.contextValue as unknown as GraphQLContext);
    },
  });
  return async (ctx) => {
    principalOf(ctx);
    const text = ctx.method === 'GET' ? '' : await readText(ctx);
    const [body, init] = await handler({
      method: ctx.method,
      url: ctx.url,
      headers: { get: (name) => ctx.get(name) || null },
      body: text,
      raw: ctx.req,
      context: ctx,
    });
    // Koa would turn an empty 202 into 204, which the protocol's clients do not take.
    ctx.respond = false;
    const { res } = ctx;
    res.writeHead(init.status, {
      ...init.headers,
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    });
    if (body === null || typeof body === 'string') return void res.end(body ?? '');
    res.on('close', () => void body.return(undefined));
    for await (const chunk of body) {
      if (!res.writable) break;
      if (!res.write(chunk)) await Promise.race([once(res, 'drain'), once(res, 'close')]);
    }
    res.end();
  };
}

/** Reads the body under this service's own limit, and leaves it where both libraries look for one. */
async function keepBody(ctx: Context): Promise<void> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  Object.assign(ctx.req, { body: await readText(ctx) });
}
