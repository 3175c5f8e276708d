import { type Problem, ServiceError } from '../../domain/errors.ts';
import { restPath } from '../../domain/invoice/field-table.ts';
import { INVOICE } from '../../domain/invoice/fields.ts';

/** What REST calls GraphQL's arguments. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['after', 'starting_after'],
  ['before', 'ending_before'],
  ['idempotencyKey', 'Idempotency-Key'],
]);

/** @throws what the work throws; a `ServiceError` of a use case in REST's names */
export async function inRestNames<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const [first, ...others] = error.problems;
    throw new ServiceError([restProblem(first), ...others.map(restProblem)]);
  }
}

/** A problem in REST's names. A message that tells of a field begins with its path, as `param` has it. */
export function restProblem(problem: Problem): Problem {
  const { param, message } = problem;
  if (param === null) return problem;
  const name = ARGUMENTS.get(param) ?? restPath(INVOICE, param);
  const begins = message.startsWith(`${param} `);
  return { ...problem, param: name, message: begins ? name + message.slice(param.length) : message };
}
