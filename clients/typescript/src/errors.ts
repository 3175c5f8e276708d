import type { ErrorCode } from './models.ts';

/** The base of all errors of this client. */
export class FatouraError extends Error {
  override readonly name: string = 'FatouraError';
  /**
   * For a creation or correction: the key with which to repeat the call. If an earlier attempt succeeded, the
   * repetition returns its result and makes nothing new. Absent for other calls.
   */
  declare readonly idempotencyKey?: string;
  /** @internal Whether the service may have done what the call asked: an attempt was sent and not refused. */
  declare readonly mayBeDone?: boolean;
}

/**
 * The service did not answer: no connection, a reset, a time-out, or an incomplete answer. It may have done what the
 * request asks.
 */
export class ConnectionError extends FatouraError {
  override readonly name = 'ConnectionError';
  /** Whether the same call would fail again: a wrong certificate, or an answer that is not the service's. */
  readonly isLasting: boolean;

  constructor(
    message: string,
    { isLasting = false, ...options }: ErrorOptions & { readonly isLasting?: boolean } = {},
  ) {
    super(message, options);
    this.isLasting = isLasting;
  }
}

/** The caller's signal ended a call. */
export class CancelledError extends FatouraError {
  override readonly name = 'CancelledError';
}

/** A delivery of a webhook is not from the service, or cannot be checked. */
export class SignatureError extends FatouraError {
  override readonly name = 'SignatureError';
}

/** The service's answer to a refused request. */
export interface Refusal {
  /** An error code of the service. A code that this version does not know is kept. */
  readonly code: ErrorCode | null;
  readonly message: string;
  /** Dotted path of the field at fault, such as `customer.ice`. */
  readonly param: string | null;
  /** The HTTP status. */
  readonly status: number;
  /** The header `Request-Id`, which support needs. */
  readonly requestId: string | null;
  /** Pause after which the service accepts the request again, milliseconds; null if it states none. */
  readonly retryAfterMs: number | null;
}

/** The service refused a request. */
export class ApiError extends FatouraError implements Refusal {
  override readonly name: string = 'ApiError';
  readonly code: ErrorCode | null;
  readonly param: string | null;
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;

  constructor({ code, message, param, status, requestId, retryAfterMs }: Refusal) {
    super(message);
    this.code = code;
    this.param = param;
    this.status = status;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** 400, 422 and the like: the request is wrong. `param` names the field. */
export class InvalidRequestError extends ApiError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the key is missing, unknown or revoked. */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError';
}

/** 403: the key may not do this. */
export class PermissionError extends ApiError {
  override readonly name = 'PermissionError';
}

/** 404: there is no such object in the key's tenant and environment. */
export class NotFoundError extends ApiError {
  override readonly name = 'NotFoundError';
}

/** 409: the idempotency key was used for another request, or an object has changed. */
export class ConflictError extends ApiError {
  override readonly name = 'ConflictError';
}

/** 429: too many requests, also after the retries. */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the service failed, also after the retries. */
export class ServiceError extends ApiError {
  override readonly name = 'ServiceError';
}

/** Makes an error of the class that matches the status. */
export function apiError(refusal: Refusal): ApiError {
  const { status } = refusal;
  if (status === 401) return new AuthenticationError(refusal);
  if (status === 403) return new PermissionError(refusal);
  if (status === 404) return new NotFoundError(refusal);
  if (status === 409) return new ConflictError(refusal);
  if (status === 429) return new RateLimitError(refusal);
  return status >= 500 ? new ServiceError(refusal) : new InvalidRequestError(refusal);
}
