import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { READ_BYTES } from '../domain/answer-bounds.ts';
import { ServiceError } from '../domain/errors.ts';
import type { Principal } from '../domain/principal.ts';
import { takeTurn } from '../domain/turns.ts';
import { createAnswerMeter } from './answer-meter.ts';
import { writeData } from './answer-text.ts';
import type { GraphQLContext } from './context.ts';
import { createLargeOperations } from './large-operations.ts';
import { isLarge, LIMITS, sizeOf } from './limits.ts';
import { schema } from './schema.ts';

/** What an operation is kept within while it runs. */
export interface AnswerBounds {
  /** Whether it may need much memory, and waits for a place. */
  readonly large: boolean;
  readonly fields: number;
  readonly bytes: number;
  /** Bytes that it may read from the store; undefined: as many as each search may. */
  readonly reads: number | undefined;
  /**
   * Of introspection, the fields that it may answer, in units of `takeTurn`: its lists are not counted while they are made. 0 for other
   * operations, so that those of one turn of the event loop read the store together.
   */
  readonly units: number;
}

/** Units that an introspection is begun with, at most. */
const MOST_UNITS = 3000;

/** Whether a root field is `__schema` or `__type`, or stands in a fragment where it might be one. */
function introspects({ selectionSet }: OperationDefinitionNode): boolean {
  return selectionSet.selections.some((each) => each.kind !== Kind.FIELD || /^__(schema|type)$/.test(each.name.value));
}

/** @param variables null: they may ask for the longest pages */
export function boundsOf(
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): AnswerBounds {
  const operation = getOperationAST(document, operationName);
  const size = operation ? sizeOf(schema, document, operation, variables ?? null) : null;
  const large = size !== null && isLarge(size);
  const units = operation && introspects(operation) ? Math.min(size?.possibleFields ?? 0, MOST_UNITS) : 0;
  const isMutation = operation?.operation === OperationTypeNode.MUTATION;
  // What a mutation may answer is known before it runs; afterwards nothing could be refused.
  return isMutation
    ? { large, units, fields: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY, reads: undefined }
    : { large, units, fields: LIMITS.answerFields, bytes: LIMITS.answerBytes, reads: READ_BYTES };
}

/** Why an operation that is valid is not answered. */
export class AnswerRefusal extends GraphQLError {}

const places = createLargeOperations();

/**
 * Runs an operation, or one event of a subscription, so that neither its fields nor its text are too many, nor the event loop is held: the
 * text of large data is written here, for `resultText`.
 * @returns an error alone, and no data, when the answer would be too large, or there was no place to make it in
 */
export async function boundedAnswer<Result extends ExecutionResult | null>(
  bounds: AnswerBounds,
  context: GraphQLContext,
  run: (context: GraphQLContext) => Promise<Result> | Result,
): Promise<Result | { readonly errors: readonly [AnswerRefusal] }> {
  try {
    const leave = bounds.large ? await places.enter(callerOf(context.principal)) : null;
    try {
      const turn = takeTurn(bounds.units);
      if (turn) await turn;
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

function callerOf(principal: Principal): string {
  return principal.kind === 'client' ? principal.invoiceId : principal.tenant.id;
}
