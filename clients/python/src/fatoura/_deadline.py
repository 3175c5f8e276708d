"""Ends what a thread reads by one time. httpx limits each reading by itself, so that an answer whose head comes a line
at a time would never be too late."""

from __future__ import annotations

import socket
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
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


def trace(event: str, info: MutableMapping[str, Any]) -> None:
    """Is told by httpcore what a request does. Limits a connection to what is left, and teaches it the deadline."""
    if _deadline.until is not None and event.endswith((".connect_tcp.started", ".start_tls.started")):
        left = max(_SHORTEST, _deadline.until - monotonic())
        info["timeout"] = left / (_addresses_of(info["host"], info["port"]) if "host" in info else 1)
    if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
        stream = info["return_value"]
        for name in ("read", "write"):
            setattr(stream, name, _limited(getattr(stream, name)))


def _addresses_of(host: str, port: int) -> int:
    """The number of a host's addresses. They are tried one after the other, each for the whole time-out."""
    with suppress(OSError):
        return len(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return 1


def _limited(method: Any) -> Any:
    def limited(what: Any, timeout: float | None = None) -> Any:
        if _deadline.until is None:
            return method(what, timeout)
        left = max(_SHORTEST, _deadline.until - monotonic())
        return method(what, left if timeout is None else min(timeout, left))

    return limited
