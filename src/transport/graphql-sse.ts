import type { IncomingMessage } from 'node:http';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  OperationTypeNode,
} from 'graphql';
import { createHandler, type Response, TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse';
import type { Context, Middleware } from 'koa';
import { type ServiceError, serviceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { boundedAnswer, boundsOf } from '../graphql/bounded-answer.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { type Explain, publicError } from '../graphql/execute.ts';
import { documentBytes, type Gate } from '../graphql/gate.ts';
import { schema } from '../graphql/schema.ts';
import { declaredVariables } from '../graphql/variable-faults.ts';
import { abandonAnswer } from './abandon.ts';
import { askOnceMore } from './ask.ts';
import { readGraphqlJson, readText } from './body.ts';
import type { EventStreams } from './event-stream.ts';
import { asEventStream, singleResult } from './graphql-event-stream.ts';
import { documentIn, jsonOf, MAX_OPERATION_ID, operationIdOf, withoutEmptyMembers } from './graphql-request.ts';
import { InTurn, once } from './in-turn.ts';
import type { CountRequests } from './middleware/identify.ts';
import { messageOf } from './open-stream.ts';
import { releaseRequest } from './release-request.ts';
import { waitForTurn } from './request-turns.ts';
import type { Subscribe } from './running-documents.ts';
import { principalOf, requestIdOf } from './state.ts';
import { createStreamReservations, newStreamToken, Reader } from './stream-reservations.ts';
import { whenGone } from './when-gone.ts';

/** How long a reserved stream waits for its reader to connect, in milliseconds. */
const RESERVATION_MS = 60_000;
/** Maximum number of concurrent operations on a stream in single connection mode. */
export const MAX_OPERATIONS = 100;
const EVENTS = 'text/event-stream';
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];

/** Estimated memory of a request for each character of its text, in bytes. */
const BYTES_A_CHARACTER = 8;

/** The context of a request in the hooks of the library. */
interface Call {
  readonly ctx: Context;
  readonly reader: Reader;
  /** The token of the stream in single connection mode; null in distinct connections mode. */
  readonly token: string | null;
  /** Length of the request's text, in characters. */
  characters: number;
  /** Whether the library has registered the id of the operation with the stream. */
  registered: boolean;
  /** The results of the operation in distinct connections mode. */
  outcome: ExecutionResult | AsyncIterable<ExecutionResult> | null;
}

/** An operation as the library passes it from hook to hook. */
interface Operation extends ExecutionArgs {
  /** The reader whose turns the operation waits for, in single connection mode. */
  readonly reader: Reader | null;
  /**
   * Returns the context with the caller's present permissions, for an operation that has waited.
   * @throws {ServiceError} if the caller is no longer admitted
   */
  readonly present: () => Promise<GraphQLContext>;
  /** Closes the connection that gets the results, or ends its reservation. */
  readonly drop: () => void;
  /** Memory that the operation takes while it waits, bytes. */
  readonly bytes: number;
}

/**
 * `/graphql/stream`: the GraphQL over SSE protocol in both modes. The library implements the protocol. This file adds
 * tokens, limits and error codes, and bounds the memory for clients that do not read.
 */
export function graphqlOverSse(
  contextOf: (ctx: Context) => GraphQLContext,
  explain: Explain,
  streams: EventStreams,
  gate: Gate,
  count: CountRequests,
  subscribe: Subscribe,
): Middleware {
  const toPublic = (error: GraphQLError, requestId: string) => publicError(gate.redacted(error), requestId, explain);
  const reservations = createStreamReservations();

  const handler = createHandler<IncomingMessage, Call, Record<string, unknown>>({
    authenticate: ({ context: { token } }) => token,
    async onSubscribe({ headers, context: call }, { query, operationName: named, variables }) {
      // An empty parameter of the query string means no name.
      const operationName = named || undefined;
      const { ctx } = call;
      call.registered = true;
      const read = checked(gate, query, operationName, variables ?? {}, principalOf(ctx));
      if ('document' in read) {
        const requests = gate.requests(read.document, operationName);
        const overLimit = requests > 1 ? await count(ctx, requests - 1).then(() => null, toError) : null;
        if (overLimit) {
          const error = toPublic(new GraphQLError(overLimit.message, { originalError: overLimit }), requestIdOf(ctx));
          return refusal(Number(error.extensions.status), { errors: [error] });
        }
        const { document } = read;
        const declaring = getOperationAST(document, operationName);
        // The request is not released earlier, because an operation that has waited checks its caller once more.
        if (declaring?.operation === OperationTypeNode.SUBSCRIPTION) whenGone(ctx.res, () => releaseRequest(ctx));
        const operation: Operation = {
          schema,
          document,
          operationName,
          variableValues: declaredVariables(declaring, variables ?? {}),
          contextValue: contextOf(ctx),
          reader: call.token === null ? null : call.reader,
          async present() {
            await askOnceMore(ctx);
            return contextOf(ctx);
          },
          drop: () => (call.token === null ? abandonAnswer(ctx.res) : call.reader.drop()),
          bytes: documentBytes(document) + call.characters * BYTES_A_CHARACTER,
        };
        return operation as Operation & { contextValue: Record<string, unknown> };
      }
      // A client that accepts events gets the errors as an event, which the browser's EventSource can read.
      if (headers.get('accept') === EVENTS) return singleResult(read);
      const errors = read.errors.map((error) => toPublic(error, requestIdOf(ctx)));
      return refusal(400, { errors });
    },
    async subscribe(args) {
      const { reader, drop } = args as Operation;
      if (!reader) return subscribe(args, drop);
      const results = await subscribe(args, drop, (events) => new InTurn(events, reader, (event) => event, 0));
      return Symbol.asyncIterator in results ? results : new InTurn(once(), reader, () => results, 0);
    },
    execute(args) {
      const { reader, present, bytes, document, operationName } = args as Operation;
      const run = async (context: GraphQLContext) =>
        boundedAnswer(boundsOf(document, operationName), context, (contextValue) => execute({ ...args, contextValue }));
      // The library would keep the result until the client reads it.
      return reader
        ? new InTurn(once(), reader, () => present().then(run).catch(asResult), bytes)
        : run(args.contextValue as unknown as GraphQLContext);
    },
    // `onSubscribe` has already validated the document.
    validate: () => [],
    onOperation(_context, { context: call }, _args, outcome) {
      if (call.token !== null) return;
      // Sent by the same sender as Yoga's results, because the library would queue results without a limit.
      call.outcome = outcome as NonNullable<Call['outcome']>;
      return noResults();
    },
    onNext: (_context, { context: { ctx } }, result) => shown(result as ExecutionResult, requestIdOf(ctx)),
    onComplete(_context, { context: { reader } }) {
      reader.operations--;
    },
  });

  function shown(result: ExecutionResult, requestId: string): ExecutionResult {
    const errors = result.errors?.map((error) => toPublic(error, requestId));
    return errors ? { ...result, errors } : result;
  }

  /** Adds the service's error codes to errors of the library, which only have a message. */
  function withErrorCodes(body: string, status: number, requestId: string): string {
    const { errors } = JSON.parse(body) as { errors: readonly { message: string; extensions?: unknown }[] };
    const coded = errors.map((error) => {
      if (error.extensions) return error;
      const cause = refused(status, error.message);
      return publicError(new GraphQLError('', { originalError: cause }), requestId, explain);
    });
    return JSON.stringify({ errors: coded });
  }

  async function handle(
    call: Call,
    method: string,
    accept: string,
    url: string,
    body: string | Record<string, unknown>,
  ): Promise<Response> {
    const { ctx } = call;
    const get = (name: string) => (name === 'accept' ? accept : ctx.get(name) || null);
    const request = { method, url, headers: { get }, body, raw: ctx.req, context: call };
    const answer = await handler(request);
    // Frees the texts, because the library keeps the request as long as the operation.
    request.body = '';
    request.url = '';
    return answer;
  }

  function callOf(ctx: Context): Call {
    const newReader = () => new Reader(principalOf(ctx), streams.unread);
    if (ctx.method === 'PUT')
      return { ctx, reader: newReader(), token: newStreamToken(), characters: 0, registered: false, outcome: null };
    const token = ctx.get(TOKEN_HEADER_KEY) || new URL(ctx.url, 'http://localhost').searchParams.get(TOKEN_QUERY_KEY);
    if (!token) return { ctx, reader: newReader(), token: null, characters: 0, registered: false, outcome: null };
    // A browser's EventSource can send no credential except the token.
    const byTokenOnly = ctx.method === 'GET' && acceptOf(ctx) === EVENTS && !ctx.headers.authorization;
    const reader = reservations.find(token, byTokenOnly ? null : principalOf(ctx));
    if (!reader) throw serviceError('resource_not_found', 'Stream not found');
    return { ctx, reader, token, characters: 0, registered: false, outcome: null };
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

  /** Updates the reservations after an answer in single connection mode. */
  function updateReservations(call: Call, token: string, [body, { status }]: Response): void {
    const { ctx, reader } = call;
    if (ctx.method === 'PUT') {
      if (status !== 201) return;
      reader.drop = () => void endReservation(call, token);
      const timer = setTimeout(reader.drop, RESERVATION_MS).unref();
      // The token opens the stream without the key, so it must end with the key.
      const unfollow = streams.whenRevoked(reader.principal, reader.drop);
      reservations.add(token, reader, () => {
        clearTimeout(timer);
        unfollow();
      });
    } else if (body !== null && typeof body !== 'string') {
      whenGone(ctx.res, () => reservations.end(token));
    }
  }

  /**
   * Answers an operation in single connection mode.
   * @throws {ServiceError} invalid_request if there are too many operations
   */
  async function operate(call: Call, accept: string, body: string | Record<string, unknown>): Promise<Response> {
    const { ctx, reader } = call;
    const id = operationIdOf(ctx, body);
    if (id === null)
      return refusal(400, {
        errors: [new GraphQLError(`extensions.operationId must be a text of at most ${MAX_OPERATION_ID} characters.`)],
      });
    if (reader.operations >= MAX_OPERATIONS)
      throw serviceError('invalid_request', `A stream can have at most ${MAX_OPERATIONS} concurrent operations.`);
    reader.operations++;
    let status = 500;
    try {
      const answer = await handle(call, ctx.method, accept, ctx.url, body);
      [, { status }] = answer;
      return answer;
    } finally {
      if (status !== 202) reader.operations--;
      // The library would otherwise keep the id of a refused operation.
      if (status >= 400 && call.registered)
        await handle(call, 'DELETE', '*/*', `/?operationId=${encodeURIComponent(id)}`, '');
    }
  }

  return async (ctx) => {
    const call = callOf(ctx);
    if (!METHODS.includes(ctx.method)) {
      ctx.set('Allow', METHODS.join(', '));
      throw refused(405, REFUSALS[405] ?? '');
    }
    const { token } = call;
    const accept = acceptOf(ctx);
    const body = await (ctx.method === 'GET' ? '' : ctx.method === 'POST' ? operationIn(call) : readText(ctx));
    const work = gate.workOf(documentIn(body === '' ? ctx.query : body));
    if (work > 0) await waitForTurn(ctx, 'document', work);
    const operates = token !== null && ctx.method !== 'PUT' && ctx.method !== 'DELETE' && accept !== EVENTS;
    const answer = await (operates ? operate(call, accept, body) : handle(call, ctx.method, accept, ctx.url, body));
    if (token !== null) updateReservations(call, token, answer);
    return send(call, answer);
  };
}

/** Reads the body of a POST. Returns its text if it is not a JSON object, which the library refuses. */
async function operationIn(call: Call): Promise<string | Record<string, unknown>> {
  const text = await readGraphqlJson(call.ctx);
  call.characters = text.length;
  const body = withoutEmptyMembers(jsonOf(text));
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : text;
}

/** Converts the error of an operation that failed by a defect to a result. */
function asResult(error: unknown): ExecutionResult {
  return { errors: [new GraphQLError('', { originalError: toError(error) })] };
}

/** Checks a request. Returns its document, or its errors. */
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

/** Returns the Accept header, reduced to the values that the library compares. */
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
