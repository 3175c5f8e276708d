"""Client of the Fatoura e-invoicing service."""

from . import webhooks
from ._client import AsyncFatoura, Fatoura
from ._exchange import Attempt
from ._lists import AsyncInvoicePages, InvoicePages
from .amounts import Totals, centimes, dirhams, totals
from .errors import (
    ApiError,
    AuthenticationError,
    CancelledError,
    ConflictError,
    ConnectionError,
    FatouraError,
    InvalidRequestError,
    NotFoundError,
    PermissionError,
    RateLimitError,
    ServiceError,
    SignatureError,
)

__all__ = [
    "ApiError",
    "AsyncFatoura",
    "AsyncInvoicePages",
    "Attempt",
    "AuthenticationError",
    "CancelledError",
    "ConflictError",
    "ConnectionError",
    "Fatoura",
    "FatouraError",
    "InvalidRequestError",
    "InvoicePages",
    "NotFoundError",
    "PermissionError",
    "RateLimitError",
    "ServiceError",
    "SignatureError",
    "Totals",
    "centimes",
    "dirhams",
    "totals",
    "webhooks",
]
