"""Errors: one class for each family."""

from __future__ import annotations

from dataclasses import dataclass

from .models import ErrorCode


class FatouraError(Exception):
    """What every error of this client is."""

    idempotency_key: str | None = None
    """Of a creation or correction: the key to ask again with; None for other calls.

    What an attempt has made is then answered, not made again.
    """


class ConnectionError(FatouraError):
    """The service did not answer: no connection, a reset, a time-out, an answer that ended early.

    The request may have been done.
    """

    def __init__(self, message: str, is_lasting: bool = False) -> None:
        super().__init__(message)
        self.is_lasting = is_lasting
        """Whether the same call fails again: a wrong certificate, an answer that is not from the service."""


class CancelledError(FatouraError):
    """The client was closed during a call."""


class SignatureError(FatouraError):
    """A delivery of a webhook is not from the service, or cannot be checked."""


@dataclass(frozen=True)
class Refusal:
    """What the service said of a refused request."""

    status: int
    """The HTTP status."""
    message: str
    code: ErrorCode | None = None
    """A code of the service; one that this version does not know is kept."""
    param: str | None = None
    """Dotted path of the field at fault, such as `customer.ice`."""
    request_id: str | None = None
    """The header `Request-Id`, to be quoted to support."""
    retry_after: float | None = None
    """When the service takes it again, seconds; None if it does not say."""


class ApiError(FatouraError):
    """The service refused a request."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.message = refusal.message
        self.code = refusal.code
        self.param = refusal.param
        self.status = refusal.status
        self.request_id = refusal.request_id
        self.retry_after = refusal.retry_after

    def __reduce__(self) -> tuple[type[ApiError], tuple[Refusal], dict[str, object]]:
        """Lets job queues carry it from one process to another."""
        stated = Refusal(self.status, self.message, self.code, self.param, self.request_id, self.retry_after)
        return type(self), (stated,), {"idempotency_key": self.idempotency_key}


class InvalidRequestError(ApiError):
    """400, 422 and the like: the request is wrong. `param` says where."""


class AuthenticationError(ApiError):
    """401: the key is missing, unknown or revoked."""


class PermissionError(ApiError):
    """403: the key may not do this."""


class NotFoundError(ApiError):
    """404: there is no such object in the key's tenant and environment."""


class ConflictError(ApiError):
    """409: the idempotency key was used for another request, or an object has changed."""


class RateLimitError(ApiError):
    """429: too many requests, also after the retries."""


class ServiceError(ApiError):
    """5xx: the service could not do it, also after the retries."""


_FAMILIES: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def api_error(refusal: Refusal) -> ApiError:
    """Makes the error of a family."""
    other = ServiceError if refusal.status >= 500 else InvalidRequestError
    return _FAMILIES.get(refusal.status, other)(refusal)
