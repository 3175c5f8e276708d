"""The clients."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from ._async_resources import AsyncDrafts, AsyncInvoices, AsyncWebhookEndpoints
from ._exchange import Attempt, options_of
from ._http import AsyncHttp, Http
from ._resources import Drafts, Invoices, WebhookEndpoints


class Fatoura:
    """A client of Fatoura. The key (`sk_test_…`, `sk_live_…`) decides tenant and environment."""

    def __init__(
        self,
        key: str | None,
        *,
        base_url: str | None = None,
        attempt_timeout: float = 30,
        timeout: float = 120,
        max_retries: int = 4,
        on_attempt: Callable[[Attempt], None] | None = None,
        client: httpx.Client | None = None,
    ) -> None:
        """`base_url` is the address of the service, by default the environment variable FATOURA_URL.

        `attempt_timeout` is for one attempt until its answer is complete, `timeout` for a call with all its attempts
        and pauses, both in seconds; `max_retries` is how often a call is repeated at most. `on_attempt` is told of each
        attempt, and never gets keys, secrets or bodies. `client` sends instead of a new one, with proxies for example.
        Raises ValueError without a key or an address, or if one of them cannot be right.
        """
        self._http = Http(key, options_of(base_url, attempt_timeout, timeout, max_retries, on_attempt), client)
        self.invoices = Invoices(self._http)
        self.drafts = Drafts(self._http)
        self.webhook_endpoints = WebhookEndpoints(self._http)

    def close(self) -> None:
        """Closes its connections. Calls of other threads end with a CancelledError: in a pause at once, else after
        their attempt. What was sent may still be done."""
        self._http.close()

    def __enter__(self) -> Fatoura:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncFatoura:
    """The same client for asyncio: its calls are awaited."""

    def __init__(
        self,
        key: str | None,
        *,
        base_url: str | None = None,
        attempt_timeout: float = 30,
        timeout: float = 120,
        max_retries: int = 4,
        on_attempt: Callable[[Attempt], None] | None = None,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        """As of Fatoura."""
        self._http = AsyncHttp(key, options_of(base_url, attempt_timeout, timeout, max_retries, on_attempt), client)
        self.invoices = AsyncInvoices(self._http)
        self.drafts = AsyncDrafts(self._http)
        self.webhook_endpoints = AsyncWebhookEndpoints(self._http)

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.close()

    async def __aenter__(self) -> AsyncFatoura:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
