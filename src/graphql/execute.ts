import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLErrorOptions,
  getOperationAST,
  OperationTypeNode,
  parse,
  validate,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { internalError, type Problem, problem, ServiceError } from '../domain/errors.ts';
import { createAnswerMeter, UNLIMITED } from './answer-meter.ts';
import type { GraphQLContext } from './context.ts';
import { enterLarge } from './large-operations.ts';
import { selectRefusals, throwRefusal } from './refusals.ts';
import { schema } from './schema.ts';

/** A document that is parsed, validated and compiled once at start. */
export interface PreparedOperation<Data> {
  /**
   * Runs a query or mutation.
   * @throws {ServiceError} if it is refused, also with a typed error; other errors are defects
   */
  execute(context: GraphQLContext, variables: Record<string, unknown>): Promise<Data>;
  /** Runs a subscription. @throws {ServiceError} if it is refused before the first value */
  subscribe(context: GraphQLContext, variables: Record<string, unknown>): Promise<AsyncIterableIterator<Data>>;
}

/**
 * Prepares a document for the execution path that REST and GraphQL share, so that validation, scopes and errors are the
 * same. A query that becomes large waits for a place, as in GraphQL. The document need not select typed errors.
 * @throws {Error} at start if the document does not match the schema
 */
export function prepare<Data>(source: string): PreparedOperation<Data> {
  const document = selectRefusals(parse(source));
  const errors = validate(schema, document);
  if (errors.length > 0)
    throw new Error(`a prepared document is not valid: ${errors.map((error) => error.message).join('; ')}`);
  const compiled = compileQuery(schema, document);
  if (!isCompiledQuery(compiled)) throw new Error('a prepared document cannot be compiled');
  // The answer has no limits here, because the store bounds the pages of REST. Long lists are still resolved in turns.
  const isMutation = getOperationAST(document)?.operation === OperationTypeNode.MUTATION;
  const bounds = isMutation ? UNLIMITED : { ...UNLIMITED, free: READ_BYTES };
  return {
    async execute(context, variables) {
      const meter = createAnswerMeter(bounds, (held) => enterLarge(context.principal, held));
      const result = await meter.run(() => compiled.query(undefined, { ...context, meter }, variables));
      const data = dataOf(result) as Record<string, unknown>;
      throwRefusal(data);
      return data as Data;
    },
    async subscribe(context, variables) {
      const started = await compiled.subscribe?.(undefined, context, variables);
      if (!started) throw new Error('the prepared document is not a subscription');
      if (!(Symbol.asyncIterator in started)) {
        dataOf(started);
        throw new Error('the subscription returned no stream');
      }
      return valuesOf<Data>(started);
    },
  };
}

function dataOf(result: ExecutionResult): unknown {
  const error = result.errors?.[0];
  if (error) throw error.originalError ?? error;
  return result.data;
}

function valuesOf<Data>(results: AsyncIterableIterator<ExecutionResult>): AsyncIterableIterator<Data> {
  return {
    async next() {
      const { done, value } = await results.next();
      return done ? { done, value: undefined } : { done: false, value: dataOf(value) as Data };
    },
    async return() {
      await results.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * Maps an unexpected failure, which is not a resolver's refusal, to a service error. Returns null for a defect, which
 * it reports.
 */
export type Explain = (failure: unknown) => ServiceError | null;

/**
 * Converts an error to what GraphQL clients see. `extensions` holds the contract's code, param and status, and
 * `problems`, all problems of that status. The message of a defect is never sent to clients.
 */
export function publicError(error: GraphQLError, requestId: string, explain: Explain): GraphQLError {
  const cause = error.originalError ?? null;
  const { nodes, source, positions, path } = error;
  const location: GraphQLErrorOptions = {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
  };
  if (cause instanceof ServiceError) return described(cause.message, location, cause.problems);
  if (cause === null || cause instanceof GraphQLError) {
    // The document or its variables are invalid; the message of graphql-js says why.
    const { originalError: _internals, ...extensions } = error.extensions;
    const param = typeof extensions.param === 'string' ? extensions.param : null;
    const wrong = problem('invalid_request', error.message, param, statusOf(error));
    return described(error.message, location, [wrong], extensions);
  }
  const { message, problems } = explain(cause) ?? internalError(requestId);
  return described(message, location, problems);
}

/** Returns the HTTP status that the refusing library has set, if any. */
function statusOf({ extensions: { http } }: GraphQLError): number | undefined {
  return (http as { readonly status?: number } | undefined)?.status;
}

function described(
  message: string,
  location: GraphQLErrorOptions,
  problems: readonly Problem[],
  extensions: Record<string, unknown> = {},
): GraphQLError {
  const [first] = problems;
  return new GraphQLError(message, {
    ...location,
    extensions: { ...extensions, code: first?.code, param: first?.param, status: first?.status, problems },
  });
}
