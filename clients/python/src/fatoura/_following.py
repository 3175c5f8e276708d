"""What following an invoice knows between two messages, for both clients. Nothing here does input or output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from time import monotonic
from typing import Any, cast

import httpx

from ._event_stream import EventReader
from ._retries import is_passing, rest_of
from .errors import ConnectionError, FatouraError
from .models import Invoice, StatusMessage

longest_silence = 40.0
"""The service sends something every 15 s. A stream that is silent for longer is dead, seconds. Shorter in tests."""
_RECONNECT, _POLL = 0.5, 2.0
"""Pauses between two connections, and between two readings where streams do not pass, seconds."""
_FUTILE_STREAMS = 3
"""After so many connections without any message the invoice is read instead: something holds streams back."""
_READINGS_PER_STREAM = 15
"""Then a stream is tried in every so many readings: the network may only have been down."""
_IN_ORDER = ("pending", "signing", "transmitted")
"""Statuses before the final ones, in their order."""


class Following:
    """The state of a `follow`."""

    def __init__(self, id: str, timeout: float | None) -> None:
        self._id = id
        self._timeout = timeout
        self.until = None if timeout is None else monotonic() + timeout
        """When the time-out is over; None: there is none."""
        self._last_event_id: str | None = None
        self._status: str | None = None
        self._told: set[str] = set()
        self._status_before: str | None = None
        self._futile = 0
        self._rest = 0.0

    @property
    def is_final(self) -> bool:
        return self._status in ("accepted", "rejected")

    @property
    def streams(self) -> bool:
        """Whether a stream is tried."""
        return self._futile < _FUTILE_STREAMS or self._futile % _READINGS_PER_STREAM == 0

    def request(self, url: str, headers: httpx.Headers) -> dict[str, Any]:
        """The arguments of httpx for the next stream."""
        own = headers.copy()
        own["Accept"] = "text/event-stream"
        if self._last_event_id is not None:
            own["Last-Event-ID"] = self._last_event_id
        return {"method": "GET", "url": url, "headers": own, "follow_redirects": False}

    def read(self, reader: EventReader, part: bytes) -> Iterator[StatusMessage]:
        """Yields the messages of a part of a stream."""
        for message in reader.feed(part):
            status = _status_in(message.data)
            self._last_event_id = message.id or self._last_event_id
            yield status

    def takes(self, message: StatusMessage) -> bool:
        """Notes a status. Returns whether it comes after the last one that was told.

        A stream repeats what came after its last message, of which a reading may have told the end.
        """
        status, last = message["status"], self._status
        if status in self._told or (status in _IN_ORDER and last in _IN_ORDER[_IN_ORDER.index(status) :]):
            return False
        self._status = status
        self._told.add(status)
        return True

    def left(self) -> float | None:
        """Seconds to the time-out; None: there is none. Raises ConnectionError after it."""
        if self.until is None:
            return None
        left = self.until - monotonic()
        if left <= 0:
            raise ConnectionError(f"{self._id} had no final status within {self._timeout} s")
        return left

    def silence(self) -> float:
        """How long the stream may be silent, seconds."""
        left = self.left()
        return longest_silence if left is None else min(longest_silence, left)

    def outlive(self, error: FatouraError) -> None:
        """Raises an error, unless it passes and there is time left."""
        if not is_passing(error):
            raise error
        self._rest = rest_of(error)
        self.left()

    def pause(self) -> float:
        """How long to wait before the next connection or reading, seconds."""
        self._futile = self._futile + 1 if self._status == self._status_before else 0
        self._status_before = self._status
        usual, left = _RECONNECT if self._futile < _FUTILE_STREAMS else _POLL, self.left()
        pause, self._rest = max(usual, self._rest), 0.0
        return pause if left is None else min(pause, left)


def _status_in(text: str) -> StatusMessage:
    """Reads a message of a stream. Raises ConnectionError if it is none of the service."""
    try:
        message = json.loads(text)
    except ValueError:
        message = None
    if not isinstance(message, dict) or not isinstance(message.get("status"), str):
        raise ConnectionError("a message of the stream has no status")
    return cast(StatusMessage, message)


def status_of(invoice: Invoice) -> StatusMessage:
    return {
        "id": invoice["id"],
        "object": invoice["object"],
        "status": invoice["status"],
        "dgi_id": invoice["dgi_id"],
        "rejection_reason": invoice["rejection_reason"],
        "updated_at": invoice["updated_at"],
    }
