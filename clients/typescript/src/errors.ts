import type { ErrorCode } from './models.ts';

/** What every error of this client says. */
export class FatouraError extends Error {
  override readonly name: string = 'FatouraError';
  /**
   * Of a creation or correction: the key to ask again with. What an attempt has made is then answered, not made again.
   * Other calls have none.
   */
  declare readonly idempotencyKey?: string;
  /** @internal Whether any attempt of the call may have been done: it was sent, and not refused. */
  declare readonly mayBeDone?: boolean;
}

/** The service did not answer: no connection, a reset, a time-out, an answer that ended early. The request may have been done. */
export class ConnectionError extends FatouraError {
  override readonly name = 'ConnectionError';
  /** Whether the same call fails again: a wrong certificate, an answer that is not from the service. */
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

/** What the service said of a refused request. */
export interface Refusal {
  /** A code of the service; one that this version does not know is kept. */
  readonly code: ErrorCode | null;
  readonly message: string;
  /** Dotted path of the field at fault, such as `customer.ice`. */
  readonly param: string | null;
  /** The HTTP status. */
  readonly status: number;
  /** The header `Request-Id`, to be quoted to support. */
  readonly requestId: string | null;
  /** When the service takes it again, milliseconds; null if it does not say. */
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

/** 400, 422 and the like: the request is wrong. `param` says where. */
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

/** 5xx: the service could not do it, also after the retries. */
export class ServiceError extends ApiError {
  override readonly name = 'ServiceError';
}

/** Makes the error of a family. */
export function apiError(refusal: Refusal): ApiError {
  const { status } = refusal;
  if (status === 401) return new AuthenticationError(refusal);
  if (status === 403) return new PermissionError(refusal);
  if (status === 404) return new NotFoundError(refusal);
  if (status === 409) return new ConflictError(refusal);
  if (status === 429) return new RateLimitError(refusal);
  return status >= 500 ? new ServiceError(refusal) : new InvalidRequestError(refusal);
}
