import { type DocumentNode, type ExecutionResult, GraphQLError, getOperationAST, OperationTypeNode } from 'graphql';
import { LARGEST_IN_PAGE, READ_BYTES } from '../domain/answer-bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import { createAnswerMeter, type MeterBounds, UNLIMITED } from './answer-meter.ts';
import { writeData } from './answer-text.ts';
import type { GraphQLContext } from './context.ts';
import { enterLarge } from './large-operations.ts';
import { LIMITS } from './limits.ts';
import { copiesIn } from './mutation-answers.ts';

/** The limits of an operation while it runs. */
interface AnswerBounds extends MeterBounds {
  /** Bytes of the answer's text. */
  readonly bytes: number;
}

/** The bounds of a query, and of a subscription for one event. */
export const READING: AnswerBounds = {
  fields: LIMITS.answerFields,
  bytes: LIMITS.answerBytes,
  reads: READ_BYTES,
  free: READ_BYTES,
  waits: false,
};

/** Returns the bounds of a valid operation. */
export function boundsOf(document: DocumentNode, operationName: string | null | undefined): AnswerBounds {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return READING;
  // A mutation cannot be refused after it has run, so the gate limits its answer beforehand.
  const waits = copiesIn(document, operation) > LARGEST_IN_PAGE;
  return { ...UNLIMITED, bytes: Number.POSITIVE_INFINITY, waits };
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
  const meter = createAnswerMeter(bounds, (held) => enterLarge(context.principal, held));
  try {
    return await meter.run(async () => {
      const result = await run({ ...context, meter });
      if (result?.data) await writeData(result.data, bounds.bytes, meter.hold);
      return result;
    });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { errors: [new AnswerRefusal(error.message, error.status === 400 ? {} : { originalError: error })] };
  }
}
