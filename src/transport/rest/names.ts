import { type Problem, ServiceError } from '../../domain/errors.ts';
import { restPath } from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';

/** The REST names of GraphQL arguments. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['after', 'starting_after'],
  ['before', 'ending_before'],
  ['idempotencyKey', 'Idempotency-Key'],
  ['clientSecret', 'client_secret'],
]);

/**
 * Awaits `work` and converts the problems of its errors to REST's names.
 * @returns the result of `work`
 * @throws what `work` throws
 */
export async function inRestNames<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const [first, ...others] = error.problems;
    throw new ServiceError([restProblem(first), ...others.map(restProblem)]);
  }
}

/** Converts a problem to REST names: `param`, and the path at the start of its message, if any. */
export function restProblem(problem: Problem): Problem {
  const { param, message } = problem;
  if (param === null) return problem;
  const name = ARGUMENTS.get(param) ?? restPath(INVOICE, param);
  const begins = message.startsWith(`${param} `);
  return { ...problem, param: name, message: begins ? name + message.slice(param.length) : message };
}
