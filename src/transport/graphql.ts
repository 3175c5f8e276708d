import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { documentLimits } from '../graphql/document-limits.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import { schema } from '../graphql/schema.ts';
import { readText } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { currentRequestId } from './middleware/request.ts';
import { errorBody } from './rest/errors.ts';
import { principalOf } from './state.ts';
import { eventStreaming, sendResults, type YogaServerContext } from './yoga-event-stream.ts';

const LIMITED: Plugin = { onValidate: ({ addValidationRule }) => addValidationRule(documentLimits) };

/** Yoga refuses some requests (405, 406, 415) without a word. */
const SPEAKING: Plugin = {
  onResponse({ response, setResponse, fetchAPI }) {
    if (response.status < 400 || response.body !== null) return;
    const message = REFUSALS[response.status] ?? 'The request is not valid.';
    const headers = new Headers(response.headers);
    headers.set('Content-Type', 'application/json; charset=utf-8');
    headers.delete('Content-Length');
    const body = JSON.stringify(errorBody(serviceError('invalid_request', message, null, response.status)));
    setResponse(new fetchAPI.Response(body, { status: response.status, headers: Object.fromEntries(headers) }));
  },
};

const REFUSALS: Readonly<Record<number, string>> = {
  405: 'This method is not possible here; use GET or POST.',
  406: 'No media type of the Accept header can be answered; accept application/graphql-response+json, application/json or text/event-stream.',
  415: 'Send the operation with Content-Type: application/json.',
};

/** POST and GET `/graphql`, with Yoga's own Server-Sent Events and, for a browser that asks for a page, GraphiQL. */
export function graphqlOverHttp(
  contextOf: (ctx: Context) => GraphQLContext,
  explain: Explain,
  streams: EventStreams,
): Middleware {
  const yoga = createYoga<YogaServerContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    // The page with all its assets from npm: nothing is fetched from elsewhere.
    renderGraphiQL,
    landingPage: false,
    cors: false,
    logging: false,
    plugins: [LIMITED, SPEAKING, eventStreaming],
    context: ({ ctx }) => contextOf(ctx),
    maskedErrors: {
      maskError: (error, _message, _isDev) => publicError(graphqlErrorOf(error), currentRequestId() ?? '', explain),
    },
  });
  return async (ctx) => {
    const page =
      ctx.method === 'GET' &&
      ctx.query.query === undefined &&
      ctx.accepts('html', 'json', 'text/event-stream') === 'html';
    if (!page) principalOf(ctx);
    await keepBody(ctx);
    const server: YogaServerContext = { ctx };
    const response = await answerOf(ctx, () => yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, server));
    if (server.results) return sendResults(streams.open(ctx, principalOf(ctx)), server.results);
    ctx.respond = false;
    if (!response) return;
    ctx.res.writeHead(response.status, Object.fromEntries(response.headers));
    ctx.res.end(new Uint8Array(await response.arrayBuffer()));
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

/** The answer, or null when the client went before it was made: then Yoga throws. */
async function answerOf<Answer>(ctx: Context, make: () => Promise<Answer> | Answer): Promise<Answer | null> {
  try {
    return await make();
  } catch (error) {
    if (ctx.res.closed || ctx.req.aborted) return null;
    throw error;
  }
}

/** Reads the body under this service's own limit, and leaves it where Yoga looks for one. */
async function keepBody(ctx: Context): Promise<void> {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  Object.assign(ctx.req, { body: await readText(ctx) });
}
