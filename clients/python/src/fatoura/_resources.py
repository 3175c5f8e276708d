"""Resources of the client. `_async_resources.py` is made from this file by `npm run build`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from . import _calls as calls
from ._following import Following, status_of
from ._http import Http
from ._lists import InvoicePages, Span
from .errors import FatouraError
from .models import (
    CreatedWebhookEndpoint,
    CreateInvoice,
    CreateWebhookEndpoint,
    DeletedWebhookEndpoint,
    Invoice,
    InvoiceList,
    InvoiceStatus,
    StatusMessage,
    UpdateWebhookEndpoint,
    WebhookEndpoint,
)
from .results import (
    Creation,
    Credit,
    CreditInput,
    CreditReason,
    Draft,
    DraftContent,
    DraftVersion,
    Include,
    Issued,
    Replacement,
)


class Invoices:
    """Invoices: creation, reading, following, correction. `timeout`s are of whole calls, seconds."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(
        self,
        invoice: CreateInvoice,
        *,
        order_number: str | None = None,
        idempotency_key: str | None = None,
        include: Sequence[Include] | None = None,
        timeout: float | None = None,
    ) -> Creation:
        """Creates an invoice. It is `pending` in the answer; `follow` waits for the authority.

        Repeated attempts of a call have one key, so a lost answer never makes a second invoice. With `order_number`,
        your number of the order, the same order never becomes a second invoice, also from another process.
        `idempotency_key` has printable characters, of which more than 255 are sent as their SHA-256; it is by default
        made of `order_number`, or new for each call. Raises ValueError if either is blank.
        """
        call = calls.create_invoice(invoice, order_number, idempotency_key, include)
        with call.stating_key():
            return self._http.send(call, timeout)

    def get(self, id: str, *, include: Sequence[Include] | None = None, timeout: float | None = None) -> Invoice:
        return self._http.send(calls.get_invoice(id, include), timeout)

    def list(
        self,
        *,
        status: InvoiceStatus | None = None,
        customer_ice: str | None = None,
        created_after: str | None = None,
        created_before: str | None = None,
        starting_after: str | None = None,
        ending_before: str | None = None,
        limit: int = 100,
        include: Sequence[Include] | None = None,
        timeout: float | None = None,
    ) -> InvoicePages:
        """Lists invoices, newest first; with `ending_before` back to the newest. `limit`: invoices of a page."""
        query = {
            "status": status,
            "customer_ice": customer_ice,
            "created_after": created_after,
            "created_before": created_before,
            "limit": limit,
        }

        def read(span: Span) -> InvoiceList:
            return self._http.send(calls.list_invoices({**query, **vars(span)}, include), timeout)

        return InvoicePages(Span(starting_after, ending_before), read)

    def find_by_number(
        self, number: str, *, include: Sequence[Include] | None = None, timeout: float | None = None
    ) -> Invoice | None:
        """Finds the invoice with a legal number; None if there is none."""
        page = self._http.send(calls.list_invoices({"number": number}, include), timeout)
        return page["data"][0] if page["data"] else None

    def follow(self, id: str, *, timeout: float | None = None) -> Iterator[StatusMessage]:
        """Yields the status of an invoice, and each change once and in order, until it is accepted or rejected.

        Connections that break are resumed; where none carries a stream, the invoice is read every two seconds.
        `Retry-After` is obeyed, up to a minute.
        Raises ConnectionError if the status is not final within `timeout` seconds; by default it waits on.
        """
        following = Following(id, timeout)
        while True:
            try:
                if following.streams:
                    for message in self._http.events(calls.stream_path(id), following):
                        if following.takes(message):
                            yield message
                        if following.is_final:
                            return
                    # The stream ends after the final status, of which a message may be lost on the way.
                invoice = self.get(id, timeout=following.left())
                message = status_of(invoice)
                if following.takes(message):
                    yield message
                if following.is_final:
                    return
            except FatouraError as error:
                following.outlive(error)
            self._http.sleep(following.pause())

    def settled(
        self,
        id: str,
        *,
        include: Sequence[Include] | None = None,
        timeout: float | None = None,
    ) -> Invoice:
        """Waits until an invoice is accepted or rejected, and reads it.

        Waits for as long as that takes, where the authority does not answer for hours, unless `timeout` ends it by a
        ConnectionError.
        """
        for _ in self.follow(id, timeout=timeout):
            pass
        return self.get(id, include=include)

    def credit(
        self,
        id: str,
        input: CreditInput,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Credit:
        """Credits an accepted invoice; the credit note passes through the same states as an invoice."""
        call = calls.credit_invoice(id, input, idempotency_key)
        with call.stating_key():
            return self._http.send(call, timeout)

    def replace(
        self,
        id: str,
        input: Mapping[str, object],
        *,
        reason: CreditReason,
        note: str | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Replacement:
        """Replaces an invoice by a corrected one. What is left of an accepted one is credited first.

        `input` is as of GraphQL's `createInvoice`, with its names: `unitPrice`, `taxRate`.
        """
        call = calls.replace_invoice(id, input, reason, note, idempotency_key)
        with call.stating_key():
            return self._http.send(call, timeout)


class Drafts:
    """Drafts of invoices: checked by the same rules as a creation, without a number until they are issued."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, content: DraftContent, *, timeout: float | None = None) -> Draft:
        """Creates a draft. The call is repeated only after a 429, because otherwise it could make a second one."""
        return self._http.send(calls.create_draft(content), timeout)

    def get(self, id: str, *, timeout: float | None = None) -> Draft:
        return self._http.send(calls.get_draft(id), timeout)

    def update(self, draft: DraftVersion, content: DraftContent, *, timeout: float | None = None) -> Draft:
        """Raises ConflictError (`draft_changed`) if the draft has another version meanwhile."""
        return self._http.send(calls.update_draft(draft, content), timeout)

    def issue(self, draft: DraftVersion, *, timeout: float | None = None) -> Issued:
        """Issues a draft as an invoice, once however often it is asked for."""
        return self._http.send(calls.issue_draft(draft), timeout)

    def delete(self, draft: DraftVersion, *, timeout: float | None = None) -> None:
        self._http.send(calls.delete_draft(draft), timeout)


class WebhookEndpoints:
    """The addresses that events are delivered to."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(self, endpoint: CreateWebhookEndpoint, *, timeout: float | None = None) -> CreatedWebhookEndpoint:
        """Creates an endpoint. Its `secret` is shown only here.

        The call is repeated only after a 429: if its answer is lost, list the endpoints, delete the new one, and create
        it again.
        """
        return self._http.send(calls.create_endpoint(endpoint), timeout)

    def list(self, *, timeout: float | None = None) -> Sequence[WebhookEndpoint]:
        """All endpoints of the key's environment, at most 16."""
        return self._http.send(calls.list_endpoints(), timeout)

    def update(self, id: str, change: UpdateWebhookEndpoint, *, timeout: float | None = None) -> WebhookEndpoint:
        return self._http.send(calls.update_endpoint(id, change), timeout)

    def delete(self, id: str, *, timeout: float | None = None) -> DeletedWebhookEndpoint:
        return self._http.send(calls.delete_endpoint(id), timeout)
