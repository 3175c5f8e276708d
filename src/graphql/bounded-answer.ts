import { type DocumentNode, type ExecutionResult, GraphQLError, getOperationAST, OperationTypeNode } from 'graphql';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import { createAnswerMeter } from './answer-meter.ts';
import { writeData } from './answer-text.ts';
import type { GraphQLContext } from './context.ts';
import { enterLarge } from './large-operations.ts';
import { isLarge, LIMITS, sizeOf } from './limits.ts';
import { schema } from './schema.ts';

/** The limits of an operation while it runs. */
export interface AnswerBounds {
  /** Whether the operation may need much memory. It then waits for a place among large operations. */
  readonly large: boolean;
  readonly fields: number;
  readonly bytes: number;
  /**
   * Limit of the bytes that the operation may read from the store. If undefined, only the limit of each search applies.
   */
  readonly reads: number | undefined;
}

/**
 * Computes the bounds.
 * @param variables null if unknown: a page length given by a variable then counts as the maximum
 */
export function boundsOf(
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): AnswerBounds {
  const operation = getOperationAST(document, operationName);
  const size = operation ? sizeOf(schema, document, operation, variables ?? null) : null;
  const large = size !== null && isLarge(size);
  const isMutation = operation?.operation === OperationTypeNode.MUTATION;
  // A mutation cannot be refused after it has run, so the gate limits its answer beforehand.
  return isMutation
    ? { large, fields: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, reads: undefined }
    : { large, fields: LIMITS.answerFields, bytes: LIMITS.answerBytes, reads: READ_BYTES };
}

/**
 * Returns the bounds of an operation by its variables. Only for operations that can be large are they computed each
 * time.
 */
export function boundsByVariables(
  document: DocumentNode,
  operationName: string | null,
): (variables: Readonly<Record<string, unknown>>) => AnswerBounds {
  const most = boundsOf(document, operationName, null);
  return (variables) => (most.large ? boundsOf(document, operationName, variables) : most);
}

/** The error of a valid operation whose answer is too large. */
export class AnswerRefusal extends GraphQLError {}

/**
 * Runs an operation, or a subscription for one event, within its bounds: limits the number of fields and bytes of the
 * answer, and yields to the event loop. The text of large data is serialized here, for `resultText`.
 * @returns an error without data if the answer would be too large or no place was free
 */
export async function boundedAnswer<Result extends ExecutionResult | null>(
  bounds: AnswerBounds,
  context: GraphQLContext,
  run: (context: GraphQLContext) => Promise<Result> | Result,
): Promise<Result | { readonly errors: readonly [AnswerRefusal] }> {
  try {
    const leave = bounds.large ? await enterLarge(context.principal) : null;
    try {
      const meter = createAnswerMeter(bounds.fields, bounds.reads);
      const result = await run({ ...context, meter });
      if (meter.exceeded) throw meter.exceeded;
      if (result?.data) await writeData(result.data, bounds.bytes);
      return result;
    } finally {
      leave?.();
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { errors: [new AnswerRefusal(error.message, error.status === 400 ? {} : { originalError: error })] };
  }
}
