"""Ends what a thread reads by one time. httpx limits each reading by itself, so that an answer whose head comes a line
at a time would never be too late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import local
from time import monotonic
from typing import Any

_SHORTEST = 0.000_001
"""What a reading gets that begins too late, seconds: without a time-out a socket has another mode."""


class _Deadline(local):
    """Each thread has its own: connections go from one to another."""

    until: float | None = None


_deadline = _Deadline()


@contextmanager
def ends_at(until: float | None) -> Iterator[None]:
    """Within it, the thread's requests read and write until then (`monotonic`) at most."""
    before, _deadline.until = _deadline.until, until
    try:
        yield
    finally:
        _deadline.until = before


def each_by(until: float | None, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yields parts of an answer, which are read until then at most. In between the thread may send other requests."""
    while True:
        with ends_at(until):
            part = next(parts, None)
        if part is None:
            return
        yield part


def trace(event: str, info: Mapping[str, Any]) -> None:
    """Is told by httpcore what a request does, and teaches each new connection the deadline."""
    if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
        stream = info["return_value"]
        for name in ("read", "write"):
            setattr(stream, name, _limited(getattr(stream, name)))


def _limited(method: Any) -> Any:
    def limited(what: Any, timeout: float | None = None) -> Any:
        if _deadline.until is None:
            return method(what, timeout)
        left = max(_SHORTEST, _deadline.until - monotonic())
        return method(what, left if timeout is None else min(timeout, left))

    return limited
