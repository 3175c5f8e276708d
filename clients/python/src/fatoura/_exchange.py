"""What calls, answers and repetitions are, for both clients. Nothing here does input or output."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any, Generic, Literal, TypeVar

import httpx

from .errors import ApiError, ConnectionError, Refusal, api_error

T = TypeVar("T")


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
    repeatable: bool
    """Whether a repetition does no harm."""
    query: Mapping[str, str | int | None] | None = None
    body: object = None
    key: str | None = None
    """The idempotency key."""

    def request(self, base_url: str, headers: httpx.Headers) -> dict[str, Any]:
        """The arguments of httpx."""
        stated = {name: value for name, value in (self.query or {}).items() if value is not None}
        own = headers.copy()
        if self.key is not None:
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


_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
"""The pause before the first repetition, and the longest one, seconds. Each is up to twice the one before."""
_LONGEST_RETRY_AFTER = 60.0
"""A longer `Retry-After` is not waited for, seconds."""
_PASSING = {408, 429, 500, 502, 503, 504}
"""Answers that say that a later attempt may succeed."""


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
        try:
            return Answer(json.loads(body), response.headers)
        except ValueError as error:
            raise ConnectionError(f"{self._call.method} {self._call.path}: the answer is no JSON") from error

    def unanswered(self, error: Exception) -> ConnectionError:
        """Makes the error of an attempt without a complete answer."""
        self._tell(None, None)
        after = monotonic() - self._begun
        return ConnectionError(
            f"{self._call.method} {self._call.path}: no complete answer after {after:.1f} s ({error})"
        )

    def pause_after(self, error: ApiError | ConnectionError) -> float:
        """How long to wait before the next attempt, seconds. Raises the error if a repetition would not help."""
        retries = self._options.max_retries if self._call.repeatable else 0
        pause = _pause_before(error, self._number)
        if self._number > retries or pause is None or monotonic() + pause >= self._until:
            raise error
        return pause

    def _tell(self, status: int | None, request_id: str | None) -> None:
        if self._options.on_attempt is not None:
            duration = monotonic() - self._begun
            told = Attempt(self._call.method, self._call.path, self._number, status, request_id, duration)
            self._options.on_attempt(told)


def _pause_before(error: ApiError | ConnectionError, attempt: int) -> float | None:
    most = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    pause = random.uniform(most / 2, most)
    if isinstance(error, ConnectionError):
        return pause
    if error.status not in _PASSING:
        return None
    if error.retry_after is None:
        return pause
    return None if error.retry_after > _LONGEST_RETRY_AFTER else max(error.retry_after, _FIRST_PAUSE)


def refusal_of(response: httpx.Response, body: bytes) -> ApiError:
    """Reads a refusal. What is not from the service, such as a page of a proxy, has no code."""
    stated: Mapping[str, Any] = {}
    try:
        stated = json.loads(body)["error"]
        message = str(stated["message"])
    except (ValueError, KeyError, TypeError):
        stated, message = {}, f"The answer has status {response.status_code}."
    request_id, retry_after = response.headers.get("request-id"), _retry_after_of(response.headers)
    refusal = Refusal(response.status_code, message, stated.get("code"), stated.get("param"), request_id, retry_after)
    return api_error(refusal)


def _retry_after_of(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3)."""
    text = headers.get("retry-after", "")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())


def options_of(
    base_url: str | None,
    attempt_timeout: float,
    timeout: float,
    max_retries: int,
    on_attempt: Callable[[Attempt], None] | None,
) -> Options:
    """Raises ValueError without an address."""
    url = base_url or os.environ.get("FATOURA_URL")
    if not url:
        raise ValueError("base_url is missing: the address of the service, or the variable FATOURA_URL")
    return Options(url.rstrip("/"), attempt_timeout, timeout, max_retries, on_attempt)


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
