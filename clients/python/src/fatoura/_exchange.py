"""What calls, answers and repetitions are, for both clients. Nothing here does input or output."""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, Literal, TypeVar

import httpx

from ._retries import is_undone, pause_before, retry_after_of
from .errors import ApiError, ConnectionError, FatouraError, Refusal, api_error

T = TypeVar("T")

GRAPHQL = "/graphql"


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call, for logs. Has no keys, secrets or bodies."""

    method: str
    path: str
    """Without the query."""
    attempt: int
    """From 1."""
    status: int | None
    """The HTTP status; None if nothing answered."""
    request_id: str | None
    duration: float
    """Seconds."""


@dataclass(frozen=True)
class Options:
    """Options of a client; seconds."""

    base_url: str
    attempt_timeout: float
    timeout: float
    max_retries: int
    on_attempt: Callable[[Attempt], None] | None


@dataclass(frozen=True)
class Answer:
    """A complete answer: its JSON, and its headers."""

    value: Any
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    read: Callable[[Answer], T]
    """Raises ApiError for a refusal that an answer with status 200 has."""
    repeatable: bool
    """Whether a repetition does no harm."""
    query: Mapping[str, str | int | None] | None = None
    body: object = None
    key: str | None = None
    """The idempotency key, which REST has in a header, and GraphQL among the variables."""

    @contextmanager
    def stating_key(self) -> Iterator[None]:
        """Lets errors have the key. The end of a task, which has no members of this client, has it in a note."""
        try:
            yield
        except FatouraError as error:
            error.idempotency_key = self.key
            raise
        except asyncio.CancelledError as error:
            # Python 3.10 has no notes.
            if sys.version_info >= (3, 11):
                error.add_note(f"{self.method} {self.path} may have been done: its idempotency key is {self.key!r}")
            raise

    def request(self, base_url: str, headers: httpx.Headers) -> dict[str, Any]:
        """The arguments of httpx."""
        stated = {name: value for name, value in (self.query or {}).items() if value is not None}
        own = headers.copy()
        if self.key is not None and self.path != GRAPHQL:
            own["Idempotency-Key"] = self.key
        if self.body is not None:
            own["Content-Type"] = "application/json"
        content = None if self.body is None else json.dumps(self.body, ensure_ascii=False).encode()
        # An empty mapping would remove the query of the address.
        params = stated or None
        return {
            "method": self.method,
            "url": base_url + self.path,
            "params": params,
            "content": content,
            "headers": own,
        }


_WITHOUT_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST"}
"""What OpenSSL says where the other side does not speak TLS."""


class Attempts:
    """The attempts of a call: how long each may take, and whether there is another."""

    def __init__(self, call: Call[Any], options: Options, timeout: float | None) -> None:
        self._call = call
        self._options = options
        self._until = monotonic() + (options.timeout if timeout is None else timeout)
        self._number = 0
        self._begun = 0.0

    def begin(self) -> float:
        """Begins the next one. Returns how long it may take, seconds."""
        self._number += 1
        self._begun = monotonic()
        return max(0.001, min(self._options.attempt_timeout, self._until - self._begun))

    def answered(self, response: httpx.Response, body: bytes) -> Answer:
        """Reads an answer. Raises ApiError, ConnectionError."""
        self._tell(response.status_code, response.headers.get("request-id"))
        if not response.is_success:
            raise refusal_of(response, body)
        what = f"{self._call.method} {self._call.path}: the answer of {self._options.base_url}"
        try:
            value = json.loads(body)
        except ValueError as error:
            raise ConnectionError(f"{what} is no JSON") from error
        if not isinstance(value, dict) or not _is_expected(f"{self._call.method} {self._call.path}", value):
            raise ConnectionError(f"{what} is not from the service: is base_url right?", is_lasting=True)
        return Answer(value, response.headers)

    def unanswered(self, error: Exception) -> ConnectionError:
        """Makes the error of an attempt without a complete answer."""
        self._tell(None, None)
        return unanswered(f"{self._call.method} {self._call.path}", self._options.base_url, error)

    def pause_after(self, error: ApiError | ConnectionError) -> float:
        """How long to wait before the next attempt, seconds. Raises the error if a repetition would not help."""
        pause = pause_before(error, self._number)
        if self._number > self._options.max_retries or not (self._call.repeatable or is_undone(error)):
            raise error
        if pause is None or monotonic() + pause >= self._until:
            raise error
        return pause

    def _tell(self, status: int | None, request_id: str | None) -> None:
        if self._options.on_attempt is not None:
            duration = monotonic() - self._begun
            told = Attempt(self._call.method, self._call.path, self._number, status, request_id, duration)
            self._options.on_attempt(told)


def _is_expected(request: str, value: Mapping[str, Any]) -> bool:
    """Whether an answer is what the request asks for. REST names the type of each object."""
    data = value.get("data")
    if request == "POST /graphql":
        return isinstance(data, dict) or isinstance(value.get("errors"), list)
    if re.fullmatch(r"GET /v1/\w+", request):
        return value.get("object") == "list" and isinstance(data, list)
    return bool(value.get("object") == ("invoice" if " /v1/invoices" in request else "webhook_endpoint"))


def unanswered(request: str, base_url: str, error: Exception) -> ConnectionError:
    """Makes the error of a request without a complete answer."""
    # What is said of a header would show it.
    is_of_header = isinstance(error, httpx.LocalProtocolError)
    cause = type(error).__name__ if is_of_header else str(error) or type(error).__name__
    is_lasting = is_of_header or isinstance(error, httpx.UnsupportedProtocol) or _is_of_tls(error)
    return ConnectionError(f"{request}: no complete answer from {base_url} ({cause})", is_lasting)


def _is_of_tls(error: BaseException | None) -> bool:
    """Whether a certificate was refused, or the other side does not speak TLS."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return isinstance(error, ssl.SSLCertVerificationError) or error.reason in _WITHOUT_TLS
        # httpcore hides what caused its errors.
        error = error.__cause__ or error.__context__
    return False


def refusal_of(response: httpx.Response, body: bytes) -> ApiError:
    """Reads a refusal. What is not from the service, such as a page of a proxy, has no code."""
    stated: Mapping[str, Any] = {}
    try:
        stated = json.loads(body)["error"]
        message = str(stated["message"])
    except (ValueError, KeyError, TypeError):
        stated, message = {}, _statement_of(response)
    request_id, retry_after = response.headers.get("request-id"), retry_after_of(response.headers)
    refusal = Refusal(response.status_code, message, stated.get("code"), stated.get("param"), request_id, retry_after)
    return api_error(refusal)


def _statement_of(response: httpx.Response) -> str:
    """Says what was answered instead of an error of the service."""
    said = f"The answer has status {response.status_code}"
    # The query may have data of customers.
    leads_to = response.headers.get("location", "").partition("?")[0]
    return f"{said} and leads to {leads_to}: is base_url right?" if leads_to else f"{said}."


def options_of(
    base_url: str | None,
    attempt_timeout: float,
    timeout: float,
    max_retries: int,
    on_attempt: Callable[[Attempt], None] | None,
) -> Options:
    """Raises ValueError without an address, or if no request can be sent to it."""
    return Options(_address_of(base_url), attempt_timeout, timeout, max_retries, on_attempt)


def _address_of(base_url: str | None) -> str:
    """Raises ValueError without the address, which may be the key."""
    text = (base_url or os.environ.get("FATOURA_URL") or "").strip()
    if not text:
        raise ValueError("base_url is missing: the address of the service, or the variable FATOURA_URL")
    try:
        url = httpx.URL(text) if re.fullmatch(r"(?i)https?://[^\s/?#@\\][^\s?#@\\]*", text) else None
        # httpx takes any number for a port.
        is_address = url is not None and url.host and (url.port is None or 0 < url.port < 65536)
    except httpx.InvalidURL:
        is_address = False
    if not is_address:
        cure = "http or https, without a user and without a query"
        raise ValueError(f"base_url is no address such as https://invoices.example.ma: {cure}")
    return text.rstrip("/")


def headers_of(key: str | None) -> httpx.Headers:
    """The headers of each request. They hide the key where they are printed. Raises ValueError without a key."""
    # A key that was read from a file ends with a line break.
    trimmed = key.strip() if key else ""
    if not trimmed:
        raise ValueError("the secret key is missing")
    # Otherwise the transport's error would print it.
    if any(not "!" <= character <= "~" for character in trimmed):
        raise ValueError("the secret key has characters that no key has")
    return httpx.Headers({"Authorization": f"Bearer {trimmed}", "Accept": "application/json"})
