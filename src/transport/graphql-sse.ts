import type { IncomingMessage } from 'node:http';
import { type DocumentNode, type ExecutionResult, execute, GraphQLError, getOperationAST } from 'graphql';
import { createHandler, type Response, TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse';
import type { Context, Middleware } from 'koa';
import { type ServiceError, serviceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { boundedAnswer, boundsOf } from '../graphql/bounded-answer.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import type { Gate } from '../graphql/gate.ts';
import { schema } from '../graphql/schema.ts';
import { subscribe } from '../graphql/subscribe.ts';
import { readGraphqlJson, readText } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { asEventStream, singleResult } from './graphql-event-stream.ts';
import { jsonOf, withoutEmptyMembers } from './graphql-request.ts';
import type { CountRequests } from './middleware/identify.ts';
import { messageOf } from './open-stream.ts';
import { principalOf, requestIdOf } from './state.ts';
import { createStreamReservations, newReader, newStreamToken, type Reader } from './stream-reservations.ts';
import { whenGone } from './when-gone.ts';

/** How long a reserved stream waits for its reader to connect, in milliseconds. */
const RESERVATION_MS = 60_000;
/** Maximum number of concurrent operations on a stream in single connection mode. */
export const MAX_OPERATIONS = 100;
const EVENTS = 'text/event-stream';
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/** The context of a request in the hooks of the library. */
interface Call {
  readonly ctx: Context;
  readonly reader: Reader;
  /** The token of the stream in single connection mode; null in distinct connections mode. */
  readonly token: string | null;
  /** The id of the operation, which the library has registered with the stream. */
  operationId: string | null;
  /** The results of the operation, in distinct connections mode. */
  outcome: ExecutionResult | AsyncIterable<ExecutionResult> | null;
}

/**
 * `/graphql/stream`: the GraphQL over SSE protocol in both modes. The library implements the protocol; this file adds
 * tokens, limits and error codes, and bounds the memory for clients that do not read.
 */
export function graphqlOverSse(
  contextOf: (ctx: Context) => GraphQLContext,
  explain: Explain,
  streams: EventStreams,
  gate: Gate,
  count: CountRequests,
): Middleware {
  const toPublic = (error: GraphQLError, requestId: string) => publicError(gate.redacted(error), requestId, explain);
  const reservations = createStreamReservations();

  const handler = createHandler<IncomingMessage, Call, Record<string, unknown>>({
    authenticate: ({ context: { token } }) => token,
    async onSubscribe({ headers, context: call }, { query, operationName: named, variables, extensions }) {
      // An empty parameter of the query string names nothing.
      const operationName = named || undefined;
      const { ctx } = call;
      call.operationId = String(extensions?.operationId ?? '');
      const read = checked(gate, query, operationName, variables ?? {}, principalOf(ctx));
      if ('document' in read) {
        const requests = gate.requests(read.document, operationName);
        const overLimit = requests > 1 ? await count(ctx, requests - 1).then(() => null, toError) : null;
        if (overLimit) {
          const error = toPublic(new GraphQLError(overLimit.message, { originalError: overLimit }), requestIdOf(ctx));
          return refusal(Number(error.extensions.status), { errors: [error] });
        }
        const contextValue = contextOf(ctx) as unknown as Record<string, unknown>;
        return { schema, ...read, operationName, variableValues: variables, contextValue };
      }
      // For a client that accepts events the errors are an event, which the browser's EventSource can read.
      if (headers.get('accept') === EVENTS) return singleResult(read);
      const errors = read.errors.map((error) => toPublic(error, requestIdOf(ctx)));
      return refusal(400, { errors });
    },
    subscribe,
    execute(args) {
      const { document, operationName, variableValues } = args;
      const context = args.contextValue as unknown as GraphQLContext;
      return boundedAnswer(boundsOf(document, operationName, variableValues), context, (contextValue) =>
        execute({ ...args, contextValue }),
      );
    },
    // `onSubscribe` has already validated the document.
    validate: () => [],
    onOperation(_context, { context: call }, _args, outcome) {
      if (call.token !== null) return;
      // Sent like Yoga's results, in the same protocol, because the library would queue results without a limit.
      call.outcome = outcome as NonNullable<Call['outcome']>;
      return noResults();
    },
    async onNext(_context, { context: { ctx, reader } }, result) {
      // Requests the next result when the client has read the previous ones; the library itself would queue them.
      await (await reader.stream)?.ready();
      return shown(result as ExecutionResult, requestIdOf(ctx));
    },
    onComplete(_context, { context: { reader } }) {
      reader.operations--;
    },
  });

  function shown(result: ExecutionResult, requestId: string): ExecutionResult {
    const errors = result.errors?.map((error) => toPublic(error, requestId));
    return errors ? { ...result, errors } : result;
  }

  /** Adds the code that all errors of the service have to errors of the library, which only have a message. */
  function withErrorCodes(body: string, status: number, requestId: string): string {
    const { errors } = JSON.parse(body) as { errors: readonly { message: string; extensions?: unknown }[] };
    const coded = errors.map((error) => {
      if (error.extensions) return error;
      const cause = refused(status, error.message);
      return publicError(new GraphQLError('', { originalError: cause }), requestId, explain);
    });
    return JSON.stringify({ errors: coded });
  }

  function handle(
    call: Call,
    method: string,
    accept: string,
    url: string,
    body: string | Record<string, unknown>,
  ): Promise<Response> {
    const { ctx } = call;
    const get = (name: string) => (name === 'accept' ? accept : ctx.get(name) || null);
    return handler({ method, url, headers: { get }, body, raw: ctx.req, context: call });
  }

  function callOf(ctx: Context): Call {
    if (ctx.method === 'PUT') {
      const reader = newReader(principalOf(ctx));
      return { ctx, reader, token: newStreamToken(), operationId: null, outcome: null };
    }
    const token = ctx.get(TOKEN_HEADER_KEY) || new URL(ctx.url, 'http://localhost').searchParams.get(TOKEN_QUERY_KEY);
    if (!token) return { ctx, reader: newReader(principalOf(ctx)), token: null, operationId: null, outcome: null };
    // A browser's EventSource can send no credential except the token.
    const byTokenOnly = ctx.method === 'GET' && acceptOf(ctx) === EVENTS && !ctx.headers.authorization;
    const reader = reservations.find(token, byTokenOnly ? null : principalOf(ctx));
    if (!reader) throw serviceError('resource_not_found', 'Stream not found');
    return { ctx, reader, token, operationId: null, outcome: null };
  }

  /** Sends the answer of the library. */
  function send({ ctx, reader, outcome }: Call, [body, init]: Response): void {
    if (outcome) {
      const requestId = requestIdOf(ctx);
      streams.open(
        ctx,
        reader.principal,
        asEventStream(outcome, (result) => shown(result, requestId)),
      );
      return;
    }
    if (body === null && init.status >= 400) {
      // The library's refusals have no body.
      for (const [name, value] of Object.entries(init.headers ?? {})) if (value !== undefined) ctx.set(name, value);
      throw refused(init.status, REFUSALS[init.status] ?? 'The request is not valid.');
    }
    if (body === null || typeof body === 'string') {
      // Koa would change an empty 202 to 204, which clients of the protocol do not accept.
      ctx.respond = false;
      ctx.res.writeHead(init.status, { ...init.headers, 'Cache-Control': 'no-store' });
      return void ctx.res.end(
        body === null || init.status < 400 ? (body ?? '') : withErrorCodes(body, init.status, requestIdOf(ctx)),
      );
    }
    whenGone(ctx.res, () => reader.open(null));
    // Drops the heartbeats of the library: the event stream sends its own.
    const print = (message: string) => (message.startsWith(':') ? null : messageOf(message));
    reader.open(streams.open(ctx, reader.principal, { values: body, print }));
  }

  /** Ends an unused reservation and its operations. Has no effect if the stream is open. */
  async function endReservation(call: Call, token: string): Promise<void> {
    const [stream] = await handle(call, 'GET', EVENTS, '/', '');
    if (stream === null || typeof stream === 'string') return;
    reservations.end(token);
    await stream.return(undefined);
  }

  /** Updates the reservations and the number of operations after an answer in single connection mode. */
  async function updateReservations(
    call: Call,
    token: string,
    [body, { status }]: Response,
    operates: boolean,
  ): Promise<void> {
    const { ctx, reader } = call;
    if (ctx.method === 'PUT') {
      if (status !== 201) return;
      const timer = setTimeout(() => void endReservation(call, token), RESERVATION_MS).unref();
      // The token opens the stream without the key, so it must end with the key.
      const unfollow = streams.whenRevoked(reader.principal, () => void endReservation(call, token));
      reservations.add(token, reader, () => {
        clearTimeout(timer);
        unfollow();
      });
    } else if (body !== null && typeof body !== 'string') {
      whenGone(ctx.res, () => reservations.end(token));
    } else if (operates && status !== 202) {
      reader.operations--;
      // Otherwise the library would keep the id of a refused operation.
      if (status >= 400 && call.operationId)
        await handle(call, 'DELETE', '*/*', `/?operationId=${encodeURIComponent(call.operationId)}`, '');
    }
  }

  return async (ctx) => {
    const call = callOf(ctx);
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw refused(405, REFUSALS[405] ?? '');
    }
    const { token, reader } = call;
    const accept = acceptOf(ctx);
    const body = await (ctx.method === 'GET' ? '' : ctx.method === 'POST' ? operationIn(ctx) : readText(ctx));
    const operates = token !== null && ctx.method !== 'PUT' && ctx.method !== 'DELETE' && accept !== EVENTS;
    if (operates && reader.operations >= MAX_OPERATIONS) {
      throw serviceError('invalid_request', `A stream can have at most ${MAX_OPERATIONS} concurrent operations.`);
    }
    if (operates) reader.operations++;
    const answer = await handle(call, ctx.method, accept, ctx.url, body);
    if (token !== null) await updateReservations(call, token, answer, operates);
    return send(call, answer);
  };
}

/** The body of a POST; its text if it is no JSON object, which the library refuses. */
async function operationIn(ctx: Context): Promise<string | Record<string, unknown>> {
  const text = await readGraphqlJson(ctx);
  const body = withoutEmptyMembers(jsonOf(text));
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : text;
}

/** The document of a valid request, or its errors. */
function checked(
  gate: Gate,
  source: string,
  operationName: string | undefined,
  variables: Record<string, unknown>,
  principal: Principal,
): { document: DocumentNode } | { errors: readonly GraphQLError[] } {
  try {
    const document = gate.parse(source);
    const errors = gate.validate(document);
    if (errors.length > 0) return { errors };
    if (!getOperationAST(document, operationName))
      return { errors: [new GraphQLError('operationName must name one of the operations of the document.')] };
    const forbidden = gate.forbidden({ document, operationName }, principal);
    if (forbidden) return { errors: [forbidden] };
    const refusals = gate.refuse({ document, operationName, variableValues: variables });
    return refusals.length > 0 ? { errors: refusals } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    throw error;
  }
}

/** The Accept header, reduced to the values that the library compares. */
function acceptOf(ctx: Context): string {
  if (!ctx.get('Accept')) return '*/*';
  const types = ctx.method === 'PUT' ? ['text/plain'] : ['application/json', EVENTS];
  return ctx.accepts(...types) || ctx.get('Accept');
}

function toError(error: unknown): Error {
  return error as Error;
}

async function* noResults(): AsyncGenerator<ExecutionResult> {}

function refusal(status: number, result: ExecutionResult): Response {
  return [
    JSON.stringify(result),
    { status, statusText: '', headers: { 'content-type': 'application/json; charset=utf-8' } },
  ];
}

function refused(status: number, message: string): ServiceError {
  return serviceError(status === 404 ? 'resource_not_found' : 'invalid_request', message, null, status);
}

const REFUSALS: Readonly<Record<number, string>> = {
  404: 'Reserve a stream with PUT first, or accept text/event-stream.',
  405: 'This method is not allowed here. Use GET, POST, PUT or DELETE.',
  406: 'The Accept header must allow text/event-stream, or application/json in single connection mode.',
};
