import type { IncomingMessage } from 'node:http';
import { type DocumentNode, type ExecutionResult, execute, GraphQLError, getOperationAST } from 'graphql';
import { createHandler, type Response, TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse';
import type { Context, Middleware } from 'koa';
import { type ServiceError, serviceError } from '../domain/errors.ts';
import { boundedAnswer, boundsOf } from '../graphql/bounded-answer.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import type { Gate } from '../graphql/gate.ts';
import { schema } from '../graphql/schema.ts';
import { subscribe } from '../graphql/subscribe.ts';
import { withParams } from '../graphql/variable-faults.ts';
import { readGraphqlJson, readText } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { only, printed } from './graphql-event-stream.ts';
import type { CountRequests } from './middleware/identify.ts';
import { principalOf, requestIdOf } from './state.ts';
import { createStreamReservations, newReader, newStreamToken, type Reader } from './stream-reservations.ts';
import { whenGone } from './when-gone.ts';

/** How long a reserved stream waits for the connection that reads it, milliseconds. */
const RESERVATION_MS = 60_000;
/** Operations at a time on one stream, in single connection mode. */
export const MAX_OPERATIONS = 100;
const EVENTS = 'text/event-stream';
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/** A request as the library's hooks see it. */
interface Call {
  readonly ctx: Context;
  readonly reader: Reader;
  /** Of the stream in single connection mode; null in distinct connections mode. */
  readonly token: string | null;
  /** Of the operation for which the library has made room on the stream. */
  operationId: string | null;
  /** In distinct connections mode: what the operation came to. */
  outcome: ExecutionResult | AsyncIterable<ExecutionResult> | null;
}

/**
 * `/graphql/stream`: the GraphQL over SSE protocol, distinct connections and single connection mode. The library speaks the protocol; here
 * is what it leaves open (tokens, limits, errors), and what it would hold without end for a client that does not read.
 */
export function graphqlOverSse(
  contextOf: (ctx: Context) => GraphQLContext,
  explain: Explain,
  streams: EventStreams,
  gate: Gate,
  count: CountRequests,
): Middleware {
  const told = (error: GraphQLError, requestId: string) => publicError(gate.hushed(error), requestId, explain);
  const reservations = createStreamReservations();

  const handler = createHandler<IncomingMessage, Call, Record<string, unknown>>({
    authenticate: ({ context: { token } }) => token,
    async onSubscribe({ headers, context: call }, { query, operationName, variables, extensions }) {
      const { ctx } = call;
      call.operationId = String(extensions?.operationId ?? '');
      const read = checked(gate, query, operationName, variables ?? {});
      if ('document' in read) {
        const requests = gate.requests(read.document, operationName);
        const overLimit = requests > 1 ? await count(ctx, requests - 1).then(() => null, toError) : null;
        if (overLimit) {
          const error = told(new GraphQLError(overLimit.message, { originalError: overLimit }), requestIdOf(ctx));
          return refusal(Number(error.extensions.status), { errors: [error] });
        }
        const contextValue = contextOf(ctx) as unknown as Record<string, unknown>;
        return { schema, ...read, operationName, variableValues: variables, contextValue };
      }
      // Who asks for events is told in an event, which the browser's own client can read.
      if (headers.get('accept') === EVENTS) return only(read);
      const errors = read.errors.map((error) => told(error, requestIdOf(ctx)));
      return refusal(400, { errors });
    },
    subscribe,
    execute(args) {
      const { document, operationName, variableValues } = args;
      const context = args.contextValue as unknown as GraphQLContext;
      return boundedAnswer(boundsOf(document, operationName, variableValues), context, async (contextValue) =>
        withParams(await execute({ ...args, contextValue }), args),
      );
    },
    // `onSubscribe` has.
    validate: () => [],
    onOperation(_context, { context: call }, _args, outcome) {
      if (call.token !== null) return;
      // Sent as Yoga's results are, which is the same protocol: the library would keep a queue for each stream.
      call.outcome = outcome as NonNullable<Call['outcome']>;
      return none();
    },
    async onNext(_context, { context: { ctx, reader } }, result) {
      // The next result is asked for when the client has read this one: the library itself would gather them.
      await (await reader.stream)?.ready();
      return shown(result as ExecutionResult, requestIdOf(ctx));
    },
    onComplete(_context, { context: { reader } }) {
      reader.operations--;
    },
  });

  function shown(result: ExecutionResult, requestId: string): ExecutionResult {
    const errors = result.errors?.map((error) => told(error, requestId));
    return errors ? { ...result, errors } : result;
  }

  /** A refusal with the code that all our errors have: the library's own are messages alone. */
  function described(body: string, status: number, requestId: string): string {
    const { errors } = JSON.parse(body) as { errors: readonly { message: string; extensions?: unknown }[] };
    const coded = errors.map((error) => {
      if (error.extensions) return error;
      const cause = refused(status, error.message);
      return publicError(new GraphQLError('', { originalError: cause }), requestId, explain);
    });
    return JSON.stringify({ errors: coded });
  }

  function handle(call: Call, method: string, accept: string, url: string, body: string): Promise<Response> {
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
    // The token is the ticket of a browser's EventSource, which sends nothing else.
    const ticket = ctx.method === 'GET' && acceptOf(ctx) === EVENTS && !ctx.headers.authorization;
    const reader = reservations.find(token, ticket ? null : principalOf(ctx));
    if (!reader) throw serviceError('resource_not_found', 'Stream not found');
    return { ctx, reader, token, operationId: null, outcome: null };
  }

  /** Sends the library's answer. */
  function send({ ctx, reader, outcome }: Call, [body, init]: Response): void {
    if (outcome) {
      const requestId = requestIdOf(ctx);
      streams.open(
        ctx,
        reader.principal,
        printed(outcome, (result) => shown(result, requestId)),
      );
      return;
    }
    if (body === null && init.status >= 400) {
      // The library refuses without a word.
      for (const [name, value] of Object.entries(init.headers ?? {})) if (value !== undefined) ctx.set(name, value);
      throw refused(init.status, REFUSALS[init.status] ?? 'The request is not valid.');
    }
    if (body === null || typeof body === 'string') {
      // Koa would turn an empty 202 into 204, which the protocol's clients do not take.
      ctx.respond = false;
      ctx.res.writeHead(init.status, { ...init.headers, 'Cache-Control': 'no-store' });
      return void ctx.res.end(
        body === null || init.status < 400 ? (body ?? '') : described(body, init.status, requestIdOf(ctx)),
      );
    }
    whenGone(ctx.res, () => reader.open(null));
    // The heartbeat is this service's, not the library's.
    const print = (message: string) => (message.startsWith(':') ? '' : message);
    reader.open(streams.open(ctx, reader.principal, { values: body, print }));
  }

  /** Ends a stream's reservation, unless it is in use, with what it holds. */
  async function giveBack(call: Call, token: string): Promise<void> {
    const [stream] = await handle(call, 'GET', EVENTS, '/', '');
    if (stream === null || typeof stream === 'string') return;
    reservations.end(token);
    await stream.return(undefined);
  }

  /** What an answer means for the stream of a token. */
  async function keepBooks(call: Call, token: string, [body, { status }]: Response, operates: boolean): Promise<void> {
    const { ctx, reader } = call;
    if (ctx.method === 'PUT') {
      if (status !== 201) return;
      const timer = setTimeout(() => void giveBack(call, token), RESERVATION_MS).unref();
      // The token must not outlive the key: it opens the stream alone.
      const unfollow = streams.whenRevoked(reader.principal, () => void giveBack(call, token));
      reservations.add(token, reader, () => {
        clearTimeout(timer);
        unfollow();
      });
    } else if (body !== null && typeof body !== 'string') {
      whenGone(ctx.res, () => reservations.end(token));
    } else if (operates && status !== 202) {
      reader.operations--;
      // The library would keep the id of what it has refused.
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
    const text = ctx.method === 'GET' ? '' : await (ctx.method === 'POST' ? readGraphqlJson : readText)(ctx);
    const operates = token !== null && ctx.method !== 'PUT' && ctx.method !== 'DELETE' && accept !== EVENTS;
    if (operates && reader.operations >= MAX_OPERATIONS) {
      throw serviceError('invalid_request', `A stream carries at most ${MAX_OPERATIONS} operations at a time.`);
    }
    if (operates) reader.operations++;
    const answer = await handle(call, ctx.method, accept, ctx.url, text);
    if (token !== null) await keepBooks(call, token, answer, operates);
    return send(call, answer);
  };
}

/** The document of a request whose operation can be run, or why it can not. */
function checked(
  gate: Gate,
  source: string,
  operationName: string | undefined,
  variables: Record<string, unknown>,
): { document: DocumentNode } | { errors: readonly GraphQLError[] } {
  try {
    const document = gate.parse(source);
    const errors = gate.validate(document);
    if (errors.length > 0) return { errors };
    if (!getOperationAST(document, operationName))
      return { errors: [new GraphQLError('operationName must name one of the operations of the document.')] };
    const refusal = gate.refuse({ document, operationName, variableValues: variables });
    return refusal ? { errors: [refusal] } : { document };
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] };
    if (error instanceof RangeError) return { errors: [new GraphQLError('The document is nested too deep.')] };
    throw error;
  }
}

/** What the client takes, in the words that the library compares with. */
function acceptOf(ctx: Context): string {
  if (!ctx.get('Accept')) return '*/*';
  const types = ctx.method === 'PUT' ? ['text/plain'] : ['application/json', EVENTS];
  return ctx.accepts(...types) || ctx.get('Accept');
}

function toError(error: unknown): Error {
  return error as Error;
}

async function* none(): AsyncGenerator<ExecutionResult> {}

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
  405: 'This method is not possible here; use GET, POST, PUT or DELETE.',
  406: 'The Accept header must take text/event-stream, or application/json in single connection mode.',
};
