<?php

declare(strict_types=1);

namespace Fatoura;

/** What every error of this client is. */
class FatouraError extends \RuntimeException
{
    /**
     * Of a creation or correction: the key to ask again with; null for other calls. What an attempt has made is then
     * answered, not made again.
     */
    public ?string $idempotencyKey = null;
}

/**
 * The service did not answer: no connection, a reset, a time-out, an answer that ended early. The request may have
 * been done.
 */
final class ConnectionError extends FatouraError
{
    /** @param bool $isLasting whether the same call fails again: a wrong certificate, an answer not from the service */
    public function __construct(
        string $message,
        ?\Throwable $previous = null,
        public readonly bool $isLasting = false,
    ) {
        parent::__construct($message, 0, $previous);
    }
}

/** The caller ended a call, by `isCancelled` of the client. */
final class CancelledError extends FatouraError
{
}

/** A delivery of a webhook is not from the service, or cannot be checked. */
final class SignatureError extends FatouraError
{
}

/** The service refused a request. */
class ApiError extends FatouraError
{
    /**
     * @param int $status the HTTP status
     * @param string|null $errorCode a code of the service; one that this version does not know is kept
     * @param string|null $param dotted path of the field at fault, such as `customer.ice`
     * @param string|null $requestId the header `Request-Id`, to be quoted to support
     * @param float|null $retryAfter when the service takes it again, seconds; null if it does not say
     */
    final public function __construct(
        string $message,
        public readonly int $status,
        public readonly ?string $errorCode = null,
        public readonly ?string $param = null,
        public readonly ?string $requestId = null,
        public readonly ?float $retryAfter = null,
    ) {
        parent::__construct($message);
    }

    /**
     * Makes the error of a family.
     *
     * @param array<array-key, mixed> $stated what the service said: `message`, `code`, `param`
     */
    public static function of(int $status, array $stated, ?string $requestId, ?float $retryAfter = null): self
    {
        $class = match (true) {
            $status === 401 => AuthenticationError::class,
            $status === 403 => PermissionError::class,
            $status === 404 => NotFoundError::class,
            $status === 409 => ConflictError::class,
            $status === 429 => RateLimitError::class,
            $status >= 500 => ServiceError::class,
            default => InvalidRequestError::class,
        };
        $text = static fn (string $name): ?string => is_string($stated[$name] ?? null) ? $stated[$name] : null;
        $message = $text('message') ?? "The answer has status {$status}.";

        return new $class($message, $status, $text('code'), $text('param'), $requestId, $retryAfter);
    }
}

/** 400, 422 and the like: the request is wrong. `param` says where. */
final class InvalidRequestError extends ApiError
{
}

/** 401: the key is missing, unknown or revoked. */
final class AuthenticationError extends ApiError
{
}

/** 403: the key may not do this. */
final class PermissionError extends ApiError
{
}

/** 404: there is no such object in the key's tenant and environment. */
final class NotFoundError extends ApiError
{
}

/** 409: the idempotency key was used for another request, or an object has changed. */
final class ConflictError extends ApiError
{
}

/** 429: too many requests, also after the retries. */
final class RateLimitError extends ApiError
{
}

/** 5xx: the service could not do it, also after the retries. */
final class ServiceError extends ApiError
{
}
