import { ERRORS, type ErrorCode } from './error-codes.ts';

/** One thing that is wrong, in the contract's error shape ("Errors"). */
export interface Problem {
  readonly code: ErrorCode;
  /** What was wrong and what was expected, for a person. */
  readonly message: string;
  /** Dotted path of the field at fault (`customer.ice`, `lines.0.taxRate`), null where none is. REST has names of its own. */
  readonly param: string | null;
  /** The HTTP status that REST answers with, and `extensions.status` in GraphQL. */
  readonly status: number;
  /** The value or values that are accepted: `12000`, `0, 7, 10, 14, 20`; absent where they cannot be listed. */
  readonly expected?: string;
}

/**
 * A failure that the client sees. All that a use case refuses is thrown as one; anything else that is thrown is a defect and is
 * answered as `internal_error` without its text.
 */
export class ServiceError extends Error {
  /** At least one; all of the same status, in the order of the contract's tables. REST shows the first. */
  readonly problems: readonly [Problem, ...Problem[]];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    super(problems[0].message);
    this.name = 'ServiceError';
    this.problems = problems;
  }

  get code(): ErrorCode {
    return this.problems[0].code;
  }
  get param(): string | null {
    return this.problems[0].param;
  }
  get status(): number {
    return this.problems[0].status;
  }
}

/** One problem with the status of its code, or with `status` where a code has several (400, 405, 413 and 415 are all `invalid_request`). */
export function problem(
  code: ErrorCode,
  message: string,
  param: string | null = null,
  status: number = ERRORS[code].status,
): Problem {
  return { code, message, param, status };
}

/** A `ServiceError` of one problem; same arguments as {@link problem}. */
export function serviceError(
  code: ErrorCode,
  message: string,
  param: string | null = null,
  status: number = ERRORS[code].status,
): ServiceError {
  return new ServiceError([problem(code, message, param, status)]);
}

/** A defect as the client sees it: without its text, which the log has under the request's id. */
export function internalError(requestId: string): ServiceError {
  return serviceError(
    'internal_error',
    `Something went wrong on our side. Quote the request id ${requestId} to support.`,
  );
}

/**
 * The error for a list of problems of mixed status: those of the lowest status alone, because structure (400) is checked before
 * business rules (422) (docs/decisions/0011).
 */
export function errorOfProblems(problems: readonly [Problem, ...Problem[]]): ServiceError {
  const status = Math.min(...problems.map((each) => each.status));
  const [first = problems[0], ...rest] = problems.filter((each) => each.status === status);
  return new ServiceError([first, ...rest]);
}
