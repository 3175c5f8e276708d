import type { ServerResponse } from 'node:http';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context, Middleware } from 'koa';
import type { Logger } from 'pino';
import type { GraphQLContext } from '../graphql/context.ts';
import { documentLimits } from '../graphql/document-limits.ts';
import { publicError } from '../graphql/execute.ts';
import { schema } from '../graphql/schema.ts';
import { readText } from './body.ts';
import { currentRequestId } from './middleware/request.ts';
import { principalOf } from './state.ts';
import { whenGone } from './when-gone.ts';

const LIMITED: Plugin = { onValidate: ({ addValidationRule }) => addValidationRule(documentLimits) };

/** POST and GET `/graphql`, with Yoga's own Server-Sent Events and, for a browser that asks for a page, GraphiQL. */
export function graphqlOverHttp(contextOf: (ctx: Context) => GraphQLContext, log: Logger): Middleware {
  const yoga = createYoga<{ ctx: Context }, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    // The page with all its assets from npm: nothing is fetched from elsewhere.
    renderGraphiQL,
    landingPage: false,
    logging: false,
    plugins: [LIMITED],
    context: ({ ctx }) => watchingWhile(ctx.res, contextOf(ctx)),
    maskedErrors: {
      maskError: (error, _message, _isDev) =>
        publicError(graphqlErrorOf(error), currentRequestId() ?? '', (err) => log.error({ err }, 'a resolver failed')),
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

/** Resolvers' errors come as GraphQL errors; others that are the request's own fault: unreadable variables, a document nested too deep. */
function graphqlErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const http = { status: 400 };
  if (error instanceof SyntaxError)
    return new GraphQLError('The parameters are not valid JSON.', { extensions: { http } });
  if (error instanceof RangeError)
    return new GraphQLError('The document is nested too deep.', { extensions: { http } });
  return new GraphQLError('', { originalError: error as Error });
}

/** Ends subscriptions when the client is gone, also when it went before Yoga began to answer, which Yoga does not notice. */
function watchingWhile(res: ServerResponse, context: GraphQLContext): GraphQLContext {
  const { useCases } = context;
  return {
    ...context,
    useCases: {
      ...useCases,
      async watchInvoice(...args) {
        const changes = await useCases.watchInvoice(...args);
        whenGone(res, () => void changes.return?.());
        return changes;
      },
    },
  };
}

/** Reads the body under this service's own limit, and leaves it where Yoga looks for one. */
async function keepBody(ctx: Context): Promise<void> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  Object.assign(ctx.req, { body: await readText(ctx) });
}
