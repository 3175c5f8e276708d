import { type ExecutionResult, execute, GraphQLError, subscribe } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/koa';
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
    await yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, { ctx });
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
  const handler = createHandler<SseContext>({
    schema,
    context: (request) => contextOf(request.context as Context) as unknown as SseContext,
    execute: async (args) => publish(await execute(args), args.contextValue as unknown as GraphQLContext),
    subscribe: async (args) => {
      const result = await subscribe(args);
      return Symbol.asyncIterator in result ? result : publish(result, args.contextValue as unknown as GraphQLContext);
    },
  });
  return async (ctx, next) => {
    principalOf(ctx);
    await keepBody(ctx);
    ctx.set('Cache-Control', 'no-store, no-transform');
    ctx.set('X-Accel-Buffering', 'no');
    await handler(ctx, next);
  };
}

/** Reads the body under this service's own limit, and leaves it where both libraries look for one. */
async function keepBody(ctx: Context): Promise<void> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  Object.assign(ctx.req, { body: await readText(ctx) });
}
