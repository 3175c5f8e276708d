import { ERRORS, type ErrorCode } from './error-codes.ts';

/** One violation in a request, in the contract's error shape ("Errors"). */
export interface Problem {
  readonly code: ErrorCode;
  /** Says what was wrong and what was expected, for people. */
  readonly message: string;
  /**
   * Dotted path of the field at fault (`customer.ice`, `lines.0.taxRate`) in the domain's names; null if no field is.
   * REST translates the path to its own names.
   */
  readonly param: string | null;
  /** The HTTP status of REST's answer, and `extensions.status` in GraphQL. */
  readonly status: number;
  /** The accepted value or values: `12000`, `0, 7, 10, 14, 20`; absent if they cannot be listed. */
  readonly expected?: string;
}

/**
 * An error for the client. Use cases throw it for everything they refuse. Any other thrown error is a defect: the
 * client gets `internal_error` without its message.
 */
export class ServiceError extends Error {
  /** At least one; all with the same status, in the order of the contract's tables. REST shows the first. */
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

/**
 * Makes a problem with the status of its code; `status` overrides it for a code that has several (400, 405, 413 and 415
 * are all `invalid_request`).
 */
export function problem(
  code: ErrorCode,
  message: string,
  param: string | null = null,
  status: number = ERRORS[code].status,
): Problem {
  return { code, message, param, status };
}

/** Makes a `ServiceError` with one problem; the same arguments as {@link problem}. */
export function serviceError(
  code: ErrorCode,
  message: string,
  param: string | null = null,
  status: number = ERRORS[code].status,
): ServiceError {
  return new ServiceError([problem(code, message, param, status)]);
}

/** Makes the client's error for a defect, without the original message: the log has that with the request's id. */
export function internalError(requestId: string): ServiceError {
  return serviceError(
    'internal_error',
    `Something went wrong on our side. Quote the request id ${requestId} to support.`,
  );
}

/**
 * Makes the error for problems of mixed statuses: it contains only those with the lowest status, because structure
 * (400) is checked before business rules (422) (docs/decisions/0011).
 */
export function errorOfProblems(problems: readonly [Problem, ...Problem[]]): ServiceError {
  const status = Math.min(...problems.map((each) => each.status));
  const [first = problems[0], ...rest] = problems.filter((each) => each.status === status);
  return new ServiceError([first, ...rest]);
}
