"""Sends calls with httpx, for programs with asyncio and for those without."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack
from threading import Event
from time import monotonic
from typing import TypeVar

import httpx

from ._deadline import each_by, ends_at, trace
from ._event_stream import EventReader
from ._exchange import Answer, Attempts, Call, Options, headers_of, refusal_of, unanswered
from ._following import Following
from .errors import ApiError, CancelledError, ConnectionError
from .models import StatusMessage

T = TypeVar("T")


class Http:
    """Sends calls, and repeats those that failed for a reason that passes."""

    def __init__(self, key: str | None, options: Options, client: httpx.Client | None) -> None:
        self._headers = headers_of(key)
        self._options = options
        self._client = client or httpx.Client()
        self._owns_client = client is None
        self._closed = Event()

    def send(self, call: Call[T], timeout: float | None) -> T:
        """Raises ApiError, ConnectionError, CancelledError."""
        attempts = Attempts(call, self._options, timeout)
        while True:
            try:
                return call.read(self._attempt(call, attempts))
            except (ApiError, ConnectionError) as error:
                self.sleep(attempts.pause_after(error))

    def _attempt(self, call: Call[T], attempts: Attempts) -> Answer:
        self.sleep(0)
        limit = attempts.begin()
        until = monotonic() + limit
        request = call.request(self._options.base_url, self._headers)
        request |= {"extensions": {"trace": trace}, "follow_redirects": False}
        try:
            with ends_at(until), self._client.stream(**request, timeout=limit) as response:
                body = bytearray()
                # No reading is too late where the next part is always there.
                for part in response.iter_bytes():
                    body += part
                    if monotonic() > until:
                        raise httpx.ReadTimeout("the answer was not complete in time")
        except httpx.RequestError as error:
            failure = attempts.unanswered(error)
            # It may be that of closing.
            self.sleep(0)
            raise failure from error
        return attempts.answered(response, bytes(body))

    def events(self, path: str, following: Following) -> Iterator[StatusMessage]:
        """Yields the messages of one connection. Raises ApiError, ConnectionError, CancelledError."""
        reader = EventReader()
        request = following.request(self._options.base_url + path, self._headers)
        request |= {"extensions": {"trace": trace}}
        try:
            with ExitStack() as stack:
                silence = following.silence()
                with ends_at(monotonic() + silence):
                    response = stack.enter_context(self._client.stream(**request, timeout=silence))
                    if not response.is_success:
                        raise refusal_of(response, response.read())
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    return
                for part in each_by(following.until, response.iter_bytes()):
                    self.sleep(0)
                    yield from following.read(reader, part)
                    following.left()
        except httpx.RequestError as error:
            raise unanswered(f"GET {path}", self._options.base_url, error) from error

    def sleep(self, seconds: float) -> None:
        """Raises CancelledError once the client is closed."""
        if self._closed.wait(seconds):
            raise CancelledError("the client is closed")

    def close(self) -> None:
        self._closed.set()
        if self._owns_client:
            self._client.close()


class AsyncHttp:
    """The same with asyncio. A cancelled task ends its call; what was sent may still be done."""

    def __init__(self, key: str | None, options: Options, client: httpx.AsyncClient | None) -> None:
        self._headers = headers_of(key)
        self._options = options
        self._client = client or httpx.AsyncClient()
        self._owns_client = client is None

    async def send(self, call: Call[T], timeout: float | None) -> T:
        """Raises ApiError, ConnectionError."""
        attempts = Attempts(call, self._options, timeout)
        while True:
            try:
                return call.read(await self._attempt(call, attempts))
            except (ApiError, ConnectionError) as error:
                await self.sleep(attempts.pause_after(error))

    async def _attempt(self, call: Call[T], attempts: Attempts) -> Answer:
        limit = attempts.begin()
        request = call.request(self._options.base_url, self._headers)
        try:
            sent = self._client.request(**request, timeout=limit, follow_redirects=False)
            response = await asyncio.wait_for(sent, limit)
        except (httpx.RequestError, asyncio.TimeoutError) as error:
            raise attempts.unanswered(error) from error
        return attempts.answered(response, response.content)

    async def events(self, path: str, following: Following) -> AsyncIterator[StatusMessage]:
        """Yields the messages of one connection. Raises ApiError, ConnectionError."""
        reader = EventReader()
        request = following.request(self._options.base_url + path, self._headers)
        try:
            async with AsyncExitStack() as stack:
                silence = following.silence()
                opened = stack.enter_async_context(self._client.stream(**request, timeout=silence))
                response = await asyncio.wait_for(opened, silence)
                if not response.is_success:
                    raise refusal_of(response, await response.aread())
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    return
                parts = response.aiter_bytes()
                while part := await asyncio.wait_for(anext(parts, b""), following.silence()):
                    for message in following.read(reader, part):
                        yield message
        except (httpx.RequestError, asyncio.TimeoutError) as error:
            raise unanswered(f"GET {path}", self._options.base_url, error) from error

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        if self._owns_client:
            await self._client.aclose()
