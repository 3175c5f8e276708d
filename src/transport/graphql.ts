import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context, Middleware } from 'koa';
import { serviceError } from '../domain/errors.ts';
import { resultText } from '../graphql/answer-text.ts';
import { AnswerRefusal, boundedAnswer, boundsOf } from '../graphql/bounded-answer.ts';
import { createCompiledQueries } from '../graphql/compiled-queries.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import type { Gate } from '../graphql/gate.ts';
import { digestOf } from '../graphql/operation-list.ts';
import { schema } from '../graphql/schema.ts';
import { withParams } from '../graphql/variable-faults.ts';
import { readGraphqlJson } from './body.ts';
import { type EventStreams, escapeLineEnds } from './event-stream.ts';
import { showGraphiql } from './graphiql.ts';
import { eventStreaming, printed, type YogaServerContext } from './graphql-event-stream.ts';
import { answerType, ordinaryRequest, persistedDigest } from './graphql-request.ts';
import type { CountRequests } from './middleware/identify.ts';
import { currentRequestId } from './middleware/request.ts';
import { errorBody } from './rest/errors.ts';
import { principalOf } from './state.ts';

/** What the gate refuses, in its words. */
function passing(
  gate: Gate,
  count: CountRequests,
  told: (error: GraphQLError) => GraphQLError,
): Plugin<GraphQLContext & YogaServerContext, YogaServerContext> {
  /** What would be or was too much, and must not run or be answered. */
  const refused = (refusal: GraphQLError): ExecutionResult => {
    const error = told(refusal);
    if (!refusal.originalError) error.extensions.http = { spec: true, status: 400 };
    else if (error.extensions.status === 429) error.extensions.http = { status: 429 };
    return { errors: [error] };
  };
  /** Why the requests that an operation counts beyond its own are too many; null when they are not. */
  const overLimit = async (ctx: Context, requests: number): Promise<GraphQLError | null> => {
    if (requests === 1) return null;
    return count(ctx, requests - 1).then(
      () => null,
      (error: Error) => new GraphQLError(error.message, { originalError: error }),
    );
  };
  return {
    onParams({ params, setParams }) {
      const sha256 = persistedDigest(params);
      if (sha256 === null) {
        if (params?.query == null) throw malformed('The request has no query.');
        return;
      }
      const { query = '' } = params;
      // What is wrong with it is Yoga's to say.
      if (typeof query !== 'string') return;
      if (query !== '') {
        if (digestOf(query) === sha256) return;
        throw badRequest('The sha256Hash of extensions.persistedQuery is not that of the query.');
      }
      const listed = gate.listed(sha256);
      // In the words that clients of this protocol, Apollo's, know.
      if (listed === null) throw badRequest('PersistedQueryNotFound');
      setParams({ ...params, query: listed });
    },
    onParse: ({ setParseFn }) => setParseFn((source) => gate.parse(String(source))),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((_schema, document) => gate.validate(document).map((error) => told(error))),
    async onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const { ctx, refusal: known } = args.contextValue;
      const refusal =
        known ?? gate.refuse(args) ?? (await overLimit(ctx, gate.requests(args.document, args.operationName)));
      if (refusal) return setResultAndStopExecution(refused(refusal));
      setExecuteFn(async (all: ExecutionArgs) => {
        const { document, operationName, variableValues } = all;
        const bounds = boundsOf(document, operationName, variableValues);
        const result = await boundedAnswer(bounds, all.contextValue as GraphQLContext, async (contextValue) =>
          withParams(await executeFn({ ...all, contextValue }), all),
        );
        const [error] = result.errors ?? [];
        return error instanceof AnswerRefusal ? refused(error) : result;
      });
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const refusal = gate.refuse(args);
      if (refusal) setResultAndStopExecution(refused(refusal));
    },
  };
}

/** Of a request that is none of GraphQL over HTTP: a 400 whatever the client accepts. */
function malformed(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { status: 400 } } });
}

/** Of one that is: a 400 to who accepts GraphQL's own media type. */
function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { spec: true, status: 400 } } });
}

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
};

export interface GraphqlParts {
  readonly gate: Gate;
  /** Whether browsers are shown GraphiQL. */
  readonly graphiql: boolean;
  /** Is told of each request, by the way on which it ran. */
  readonly ran: (path: 'prepared' | 'yoga') => void;
}

/** POST and GET `/graphql`, with Yoga's own Server-Sent Events and, for a browser that asks for a page, GraphiQL. */
export function graphqlOverHttp(
  contextOf: (ctx: Context) => GraphQLContext,
  explain: Explain,
  streams: EventStreams,
  { gate, graphiql, ran }: GraphqlParts,
  count: CountRequests,
): Middleware {
  const told = (error: GraphQLError) => publicError(gate.hushed(error), currentRequestId() ?? '', explain);
  const yoga = createYoga<YogaServerContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    // The gate remembers what is valid.
    parserAndValidationCache: false,
    cors: false,
    logging: false,
    plugins: [passing(gate, count, told), SPEAKING, eventStreaming],
    context: ({ ctx }) => contextOf(ctx),
    maskedErrors: {
      maskError: (error, _message, _isDev) => told(graphqlErrorOf(error)),
    },
  });
  const queries = createCompiledQueries(gate);
  const showPage = showGraphiql();

  /** The prepared path: answers a query that has been asked before as Yoga would, which costs many times as much. */
  async function answeredPrepared(ctx: Context, body: string, server: YogaServerContext): Promise<boolean> {
    const type = answerType(ctx.get('Accept'));
    const request = type === null ? null : ordinaryRequest(body, gate.listed);
    const query = request && queries.find(request);
    if (!query) return false;
    const result = await boundedAnswer(query.bounds, contextOf(ctx), (context) =>
      query.run(context, request.variables),
    );
    // Where anything was refused or has failed, Yoga runs it once more and tells; not what was too much.
    if (!result || !('data' in result)) {
      const [refusal] = result?.errors ?? [];
      if (refusal) server.refusal = refusal;
      return false;
    }
    // Written at once, as Yoga's answers are: Koa would look at the body to guess what is known.
    ctx.respond = false;
    ctx.res.statusCode = 200;
    ctx.res.setHeader('Content-Type', `${type}; charset=utf-8`);
    ctx.res.end(resultText(result));
    return true;
  }

  return async (ctx, next) => {
    if (
      graphiql &&
      (ctx.method === 'GET' || ctx.method === 'HEAD') &&
      ctx.query.query === undefined &&
      ctx.query.extensions === undefined &&
      // Last, so that it is not for who takes anything.
      ctx.accepts('json', 'application/graphql-response+json', 'text/event-stream', 'html') === 'html'
    )
      return showPage(ctx, next);
    principalOf(ctx);
    const server: YogaServerContext = { ctx };
    if (ctx.method === 'POST') {
      const body = await readGraphqlJson(ctx);
      if (await answeredPrepared(ctx, body, server)) return ran('prepared');
      // Where Yoga looks for it.
      Object.assign(ctx.req, { body });
    }
    ran('yoga');
    const response = await answerOf(ctx, () => yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, server));
    if (server.results) return void streams.open(ctx, principalOf(ctx), printed(server.results));
    ctx.respond = false;
    if (!response) return;
    ctx.res.writeHead(response.status, Object.fromEntries(response.headers));
    // A single result as an event, which Yoga writes itself.
    if (response.headers.get('content-type')?.startsWith('text/event-stream'))
      return void ctx.res.end(escapeLineEnds(await response.text()));
    ctx.res.end(new Uint8Array(await response.arrayBuffer()));
  };
}

/**
 * GraphQL over HTTP answers a well-formed request whose document or variables are wrong with 400 to who accepts its own media type, and
 * with 200 to who accepts application/json alone (`spec`); any other with 400 to everybody. Yoga has it so but for these two.
 */
function ruled(error: GraphQLError): GraphQLError {
  const { http, originalError } = error.extensions as {
    http?: { status?: number; spec?: boolean };
    originalError?: object;
  };
  const [variables, unreadableBody] = [error.nodes && http?.status === 400, originalError !== undefined];
  if (http && variables) http.spec = true;
  if (http && unreadableBody) http.spec = false;
  return error;
}

/** Resolvers' errors come as GraphQL errors; others that are the request's own fault: unreadable variables, a document nested too deep. */
function graphqlErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return ruled(error);
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
