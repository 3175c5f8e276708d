import { type Problem, ServiceError } from '../../domain/errors.ts';
import { restPath } from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';

/** The REST names of GraphQL arguments. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['after', 'starting_after'],
  ['before', 'ending_before'],
  ['idempotencyKey', 'Idempotency-Key'],
  ['clientSecret', 'client_secret'],
  ['customerIce', 'customer_ice'],
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

/** Converts a problem to REST names: `param`, and the path or its last step at the start of its message, if any. */
export function restProblem(problem: Problem): Problem {
  const { param, message } = problem;
  if (param === null) return problem;
  const name = ARGUMENTS.get(param) ?? restPath(INVOICE, param);
  for (const [graphql, rest] of [
    [param, name],
    [lastOf(param), lastOf(name)],
  ] as const)
    if (message.startsWith(`${graphql} `))
      return { ...problem, param: name, message: rest + message.slice(graphql.length) };
  return { ...problem, param: name };
}

/** Returns the last step of a path. */
function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
