"""Lists that are read page by page, when they are iterated."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from .models import Invoice, InvoiceList


@dataclass(frozen=True)
class Span:
    """Where a page begins: after an object of the list, or before one."""

    starting_after: str | None = None
    ending_before: str | None = None

    def ordered(self, page: InvoiceList) -> Sequence[Invoice]:
        """A page is newest first in either direction. On the way back the oldest comes first."""
        return page["data"] if self.ending_before is None else page["data"][::-1]

    def after(self, page: InvoiceList) -> Span | None:
        """Where the page after a page begins; None if there is none."""
        data = page["data"]
        if not page["has_more"] or not data:
            return None
        if self.ending_before is None:
            return Span(starting_after=data[-1]["id"])
        return Span(ending_before=data[0]["id"])


class InvoicePages:
    """Invoices from the newest to the oldest, or with `ending_before` back to the newest. Each iteration reads anew."""

    def __init__(self, span: Span, read: Callable[[Span], InvoiceList]) -> None:
        self._span = span
        self._read = read

    def page(self) -> InvoiceList:
        """Reads the first page only."""
        return self._read(self._span)

    def __iter__(self) -> Iterator[Invoice]:
        span: Span | None = self._span
        while span is not None:
            page = self._read(span)
            yield from span.ordered(page)
            span = span.after(page)


class AsyncInvoicePages:
    """Invoices from the newest to the oldest, or with `ending_before` back to the newest. Each iteration reads anew."""

    def __init__(self, span: Span, read: Callable[[Span], Awaitable[InvoiceList]]) -> None:
        self._span = span
        self._read = read

    async def page(self) -> InvoiceList:
        """Reads the first page only."""
        return await self._read(self._span)

    async def __aiter__(self) -> AsyncIterator[Invoice]:
        span: Span | None = self._span
        while span is not None:
            page = await self._read(span)
            for invoice in span.ordered(page):
                yield invoice
            span = span.after(page)
