import { type ExecutionArgs, type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context, Middleware } from 'koa';
import { currentActivity } from '../domain/activity.ts';
import { serviceError } from '../domain/errors.ts';
import { resultText } from '../graphql/answer-text.ts';
import { AnswerRefusal, boundedAnswer, boundsOf, READING } from '../graphql/bounded-answer.ts';
import { createCompiledQueries } from '../graphql/compiled-queries.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import type { Gate } from '../graphql/gate.ts';
import { digestOf } from '../graphql/operation-list.ts';
import { schema } from '../graphql/schema.ts';
import { readGraphqlJson } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { showGraphiql } from './graphiql.ts';
import { asEventStream, eventStreaming, singleEvent, type YogaServerContext } from './graphql-event-stream.ts';
import {
  answerType,
  documentIn,
  jsonOf,
  ordinaryRequest,
  persistedDigest,
  withoutEmptyMembers,
} from './graphql-request.ts';
import type { CountRequests } from './middleware/identify.ts';
import { noteFailure } from './middleware/request.ts';
import { withEscapedLineEnds } from './open-stream.ts';
import { waitForTurn } from './request-turns.ts';
import { ASK_AGAIN_SECONDS, errorBody } from './rest/errors.ts';
import type { Subscribe } from './running-documents.ts';
import { principalOf, type RequestState } from './state.ts';

/** Creates the plugin that applies the gate to Yoga's requests and answers with the gate's errors. */
function gatePlugin(
  gate: Gate,
  count: CountRequests,
  toPublic: (error: GraphQLError) => GraphQLError,
): Plugin<GraphQLContext & YogaServerContext, YogaServerContext> {
  /** Makes the result of an operation that exceeds a limit, before or after it ran. */
  const refused = (refusals: readonly GraphQLError[]): ExecutionResult => {
    const errors = refusals.map((refusal) => {
      const error = toPublic(refusal);
      if (!refusal.originalError) error.extensions.http = { spec: true, status: 400 };
      else if (error.extensions.status === 429) error.extensions.http = { status: 429 };
      return error;
    });
    return { errors };
  };
  /** Counts the additional requests of an operation. Returns the error if they exceed the rate limit. */
  const overLimit = async (ctx: Context, requests: number): Promise<readonly GraphQLError[]> => {
    if (requests === 1) return [];
    return count(ctx, requests - 1).then(
      () => [],
      (error: Error) => [new GraphQLError(error.message, { originalError: error })],
    );
  };
  return {
    onParams({ params: sent, setParams }) {
      // The parameters of a GET. Empty members of a POST's body were removed earlier.
      const params = withoutEmptyMembers(sent) as typeof sent;
      if (params !== sent) setParams(params);
      const sha256 = persistedDigest(params);
      if (sha256 === null) {
        if (params?.query == null) throw malformed('The request has no query.');
        return;
      }
      const { query = '' } = params;
      // Yoga reports the missing query.
      if (typeof query !== 'string') return;
      if (query !== '') {
        if (digestOf(query) === sha256) return;
        throw badRequest('The sha256Hash of extensions.persistedQuery is not that of the query.');
      }
      const listed = gate.listed(sha256);
      // The message that clients of Apollo's protocol expect.
      if (listed === null) throw badRequest('PersistedQueryNotFound');
      setParams({ ...params, query: listed });
    },
    onParse: ({ setParseFn }) => setParseFn((source) => gate.parse(String(source))),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((_schema, document) => gate.validate(document).map((error) => toPublic(error))),
    async onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const { ctx, refusal: known } = args.contextValue;
      const operation = getOperationAST(args.document, args.operationName);
      (ctx.state as RequestState).operation = operation?.name?.value ?? null;
      const forbidden = gate.forbidden(args, args.contextValue.principal);
      if (forbidden) return setResultAndStopExecution({ data: null, ...refused([forbidden]) });
      let refusals = known ? [known] : gate.refuse(args);
      if (refusals.length === 0) refusals = await overLimit(ctx, gate.requests(args.document, args.operationName));
      if (refusals.length > 0) return setResultAndStopExecution(refused(refusals));
      setExecuteFn(async (all: ExecutionArgs) => {
        const bounds = boundsOf(all.document, all.operationName);
        const result = await boundedAnswer(bounds, all.contextValue as GraphQLContext, (contextValue) =>
          executeFn({ ...all, contextValue }),
        );
        noteTypedError(result);
        const [error] = result.errors ?? [];
        // Yoga converts an error that has a cause.
        return error instanceof AnswerRefusal && !error.originalError ? refused([error]) : result;
      });
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const forbidden = gate.forbidden(args, args.contextValue.principal);
      if (forbidden) return setResultAndStopExecution(refused([forbidden]));
      const refusals = gate.refuse(args);
      if (refusals.length > 0) setResultAndStopExecution(refused(refusals));
    },
  };
}

/**
 * Notes for the request log an error that a mutation answers as a member of its union. The error is known only if the
 * client selected its code and message.
 */
function noteTypedError({ data }: ExecutionResult): void {
  for (const value of Object.values(data ?? {})) {
    const { code, message, param } = (value ?? {}) as Record<string, unknown>;
    if (typeof message === 'string') noteFailure(code, param);
  }
}

/** Makes the error of a request that is not GraphQL over HTTP: 400 for every Accept header. */
function malformed(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { status: 400 } } });
}

/**
 * Makes the error of a GraphQL over HTTP request: 400 if the client accepts GraphQL's own media type, otherwise 200.
 */
function badRequest(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { spec: true, status: 400 } } });
}

/** Passes the parsed body to Yoga, which would copy the text several times, once as an array of its characters. */
const PARSED_BODY: Plugin<YogaServerContext, YogaServerContext> = {
  onRequestParse({ request, serverContext: { body }, setRequestParser }) {
    if (request.method !== 'POST') return;
    setRequestParser(() => {
      if (body === undefined) throw malformed('The body is not valid JSON.');
      if (typeof body !== 'object' || body === null) throw malformed('The body must be a JSON object.');
      return body;
    });
  },
};

/** Adds an error body to Yoga's refusals (405, 406, 415), which otherwise have none. */
const REFUSAL_BODIES: Plugin = {
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
  405: 'This method is not allowed here. Use GET or POST.',
  406: 'The Accept header must allow application/graphql-response+json, application/json or text/event-stream.',
};

/** Work of Yoga for a request, besides the work for its document and its answer, in units of `takeTurn`. */
const YOGA_UNITS = 1000;

export interface GraphqlParts {
  readonly gate: Gate;
  /** Whether browsers that request HTML get GraphiQL. */
  readonly graphiql: boolean;
  /** Called for each request with the path that executed it. */
  readonly ran: (path: 'prepared' | 'yoga') => void;
}

/** POST and GET `/graphql`, with subscriptions as Server-Sent Events, and GraphiQL for browsers that request HTML. */
export function graphqlOverHttp(
  contextOf: (ctx: Context) => GraphQLContext,
  explain: Explain,
  streams: EventStreams,
  { gate, graphiql, ran }: GraphqlParts,
  count: CountRequests,
  subscribe: Subscribe,
): Middleware {
  const toPublic = (error: GraphQLError) => {
    const shown = publicError(gate.redacted(error), currentActivity()?.requestId ?? '', explain);
    noteFailure(shown.extensions.code, shown.extensions.param);
    const state = currentActivity() as RequestState | undefined;
    if (state && shown.extensions.status === 503) state.isUnavailable = true;
    return shown;
  };
  const yoga = createYoga<YogaServerContext, GraphQLContext>({
    schema,
    graphqlEndpoint: '/graphql',
    graphiql: false,
    landingPage: false,
    multipart: false,
    // The gate caches valid documents.
    parserAndValidationCache: false,
    cors: false,
    logging: false,
    // The body has already been read within its limit.
    maxRequestBodySize: false,
    plugins: [gatePlugin(gate, count, toPublic), PARSED_BODY, REFUSAL_BODIES, eventStreaming(subscribe)],
    context: ({ ctx }) => contextOf(ctx),
    maskedErrors: {
      maskError: (error, _message, _isDev) => toPublic(graphqlErrorOf(error)),
    },
  });
  const shown = (result: ExecutionResult): ExecutionResult =>
    result.errors ? { ...result, errors: result.errors.map(toPublic) } : result;
  const queries = createCompiledQueries(gate);
  const showPage = showGraphiql();

  /**
   * Answers a known query on the prepared path, as Yoga would, at a fraction of its cost. Returns false if Yoga must
   * answer.
   */
  async function answerPrepared(ctx: Context, server: YogaServerContext): Promise<boolean> {
    const type = answerType(ctx.get('Accept'));
    const request = type === null ? null : ordinaryRequest(server.body, gate.listed);
    const query = request && queries.find(request);
    if (!query) return false;
    const result = await boundedAnswer(READING, contextOf(ctx), (context) => query.run(context, request.variables));
    // After an error, Yoga runs the query again and answers with its errors. If a limit was exceeded, it does not.
    if (!result || !('data' in result)) {
      const [refusal] = result?.errors ?? [];
      if (refusal) server.refusal = refusal;
      return false;
    }
    (ctx.state as RequestState).operation = query.name;
    // Written directly, because Koa would examine the body to determine its type and length.
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
      // HTML is the last choice, so that clients that accept everything get JSON.
      ctx.accepts('json', 'application/graphql-response+json', 'text/event-stream', 'html') === 'html'
    )
      return showPage(ctx, next);
    principalOf(ctx);
    const server: YogaServerContext = { ctx, subscription: { results: null } };
    if (ctx.method === 'POST') {
      server.body = withoutEmptyMembers(jsonOf(await readGraphqlJson(ctx)));
      if (await answerPrepared(ctx, server)) return ran('prepared');
    }
    ran('yoga');
    const work = gate.workOf(documentIn(server.body ?? ctx.query));
    if (work > 0) await waitForTurn(ctx, 'document', YOGA_UNITS + work);
    const response = await answerOf(ctx, () => yoga.handleNodeRequestAndResponse(ctx.req, ctx.res, server));
    const { results } = server.subscription;
    if (results && server.accepted) return void streams.open(ctx, principalOf(ctx), asEventStream(results, shown));
    ctx.respond = false;
    if (!response) return;
    if ((ctx.state as RequestState).isUnavailable) ctx.set('Retry-After', ASK_AGAIN_SECONDS);
    ctx.res.writeHead(response.status, Object.fromEntries(response.headers));
    if (server.single) return void ctx.res.end(singleEvent(server.single));
    const bytes = Buffer.from(await response.arrayBuffer());
    const isEvent = response.headers.get('content-type')?.startsWith('text/event-stream');
    ctx.res.end(isEvent ? withEscapedLineEnds(bytes) : bytes);
  };
}

/**
 * Converts an error to a GraphQL error. Errors of the gate and of resolvers are GraphQL errors already; those of
 * unreadable variables are converted.
 */
function graphqlErrorOf(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  if (error instanceof SyntaxError) return malformed('The parameters are not valid JSON.');
  return new GraphQLError('', { originalError: error as Error });
}

/** Returns the answer; null when the client disconnected before it was complete, in which case Yoga throws. */
async function answerOf<Answer>(ctx: Context, make: () => Promise<Answer> | Answer): Promise<Answer | null> {
  try {
    return await make();
  } catch (error) {
    if (ctx.res.closed || ctx.req.aborted) return null;
    throw error;
  }
}
