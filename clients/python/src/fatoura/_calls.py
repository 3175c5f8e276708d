"""The calls of the API, for both clients."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, cast
from urllib.parse import quote
from uuid import uuid4

from ._exchange import GRAPHQL, Answer, Call
from ._retries import retry_after_of
from .errors import FatouraError, Refusal, api_error
from .models import (
    CreatedWebhookEndpoint,
    CreateInvoice,
    CreateWebhookEndpoint,
    DeletedWebhookEndpoint,
    Invoice,
    InvoiceList,
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

Included = Sequence[Include] | None
Query = Mapping[str, str | int | None]

_INVOICES, _ENDPOINTS = "/v1/invoices", "/v1/webhook_endpoints"
_MOST = 255
"""The most characters of a key that the service takes."""
_UNSEEN = {"Zs", "Zl", "Zp", "Cc", "Cf"}
"""Categories of characters of which a blank text is made."""


def create_invoice(
    invoice: CreateInvoice, order_number: str | None, idempotency_key: str | None, include: Included
) -> Call[Creation]:
    def read(answer: Answer) -> Creation:
        replayed = answer.headers.get("idempotent-replayed") == "true"
        return cast(Creation, {**answer.value, "replayed": replayed})

    key = _key_of(order_number, idempotency_key)
    return Call("POST", _INVOICES, read, True, query=_including(include), body=invoice, key=key)


def get_invoice(id: str, include: Included) -> Call[Invoice]:
    return Call("GET", f"{_INVOICES}/{_segment(id)}", _value, True, query=_including(include))


def list_invoices(query: Query, include: Included) -> Call[InvoiceList]:
    return Call("GET", _INVOICES, _value, True, query={**query, **_including(include)})


def stream_path(id: str) -> str:
    return f"{_INVOICES}/{_segment(id)}/stream"


def credit_invoice(id: str, input: CreditInput, idempotency_key: str | None) -> Call[Credit]:
    variables = {"id": id, "input": input, "key": _key_of(None, idempotency_key)}
    return _operation("creditInvoice", _CREDIT, variables, True)


def replace_invoice(
    id: str,
    input: Mapping[str, object],
    reason: CreditReason,
    note: str | None,
    idempotency_key: str | None,
) -> Call[Replacement]:
    key = _key_of(None, idempotency_key)
    variables = {"id": id, "input": input, "reason": reason, "note": note, "key": key}
    return _operation("replaceInvoice", _REPLACE, variables, True)


def create_draft(content: DraftContent) -> Call[Draft]:
    return _operation("createDraft", _CREATE_DRAFT, {"content": content}, False, "draft")


def get_draft(id: str) -> Call[Draft]:
    return _operation("draft", _READ_DRAFT, {"id": id}, True)


def update_draft(draft: DraftVersion, content: DraftContent) -> Call[Draft]:
    return _operation("updateDraft", _UPDATE_DRAFT, {**_version(draft), "content": content}, False, "draft")


def issue_draft(draft: DraftVersion) -> Call[Issued]:
    return _operation("issueDraft", _ISSUE_DRAFT, _version(draft), True)


def delete_draft(draft: DraftVersion) -> Call[object]:
    return _operation("deleteDraft", _DELETE_DRAFT, _version(draft), False)


def create_endpoint(endpoint: CreateWebhookEndpoint) -> Call[CreatedWebhookEndpoint]:
    return Call("POST", _ENDPOINTS, _value, False, body=endpoint)


def list_endpoints() -> Call[Sequence[WebhookEndpoint]]:
    def read(answer: Answer) -> Sequence[WebhookEndpoint]:
        data: Sequence[WebhookEndpoint] = answer.value["data"]
        return data

    return Call("GET", _ENDPOINTS, read, True)


def update_endpoint(id: str, change: UpdateWebhookEndpoint) -> Call[WebhookEndpoint]:
    return Call("PATCH", f"{_ENDPOINTS}/{_segment(id)}", _value, True, body=change)


def delete_endpoint(id: str) -> Call[DeletedWebhookEndpoint]:
    return Call("DELETE", f"{_ENDPOINTS}/{_segment(id)}", _value, True)


def _value(answer: Answer) -> Any:
    return answer.value


def _including(include: Included) -> dict[str, str | int | None]:
    return {} if include is None else {"include": ",".join(include)}


def _segment(id: str) -> str:
    return quote(id, safe="")


def _key_of(order_number: str | None, idempotency_key: str | None) -> str:
    """The key of a call, as the service takes it. A key that it has made is made of itself."""
    number = None if order_number is None else f"order {_in_header('order_number', order_number)}"
    key = None if idempotency_key is None else _in_header("idempotency_key", idempotency_key)
    stated = key or number or str(uuid4())
    return stated if len(stated) <= _MOST else f"sha256 {sha256(stated.encode()).hexdigest()}"


def _in_header(name: str, text: str) -> str:
    """Writes as addresses do what a header does not keep: other characters than ASCII's, and spaces at the ends.

    Raises TypeError; ValueError for a blank text, which would be the same for all that have none, and for half of a
    character.
    """
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a str, not {type(text).__name__}")
    if all(unicodedata.category(char) in _UNSEEN for char in text):
        raise ValueError(f"{name} is blank: state it, or leave it out for a key of the call's own")
    try:
        return re.sub(r"\A +| +\Z|[^ -~]+", lambda found: quote(found[0], safe=""), text)
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half of a character (a lone surrogate)") from error


def _version(draft: DraftVersion) -> dict[str, object]:
    return {"id": draft["id"], "version": draft["version"]}


def _operation(
    field: str, query: str, variables: Mapping[str, object], repeatable: bool, member: str | None = None
) -> Call[Any]:
    """Makes the call of an operation of GraphQL with one field. Its result is that field, or a member of it."""

    def read(answer: Answer) -> Any:
        for error in answer.value.get("errors") or []:
            raise _refused({**(error.get("extensions") or {}), "message": error["message"]}, answer)
        result = (answer.value.get("data") or {}).get(field)
        if not isinstance(result, dict):
            raise FatouraError(f"the answer has no {field}")
        if "code" in result and "message" in result:
            raise _refused(result, answer)
        return result if member is None else result[member]

    key = cast("str | None", variables.get("key"))
    return Call("POST", GRAPHQL, read, repeatable, body={"query": query, "variables": variables}, key=key)


def _refused(stated: Mapping[str, Any], answer: Answer) -> FatouraError:
    """Makes the error of a refusal, which GraphQL answers with status 200, also where the service is not available."""
    status, message = stated.get("status", 400), stated["message"]
    request_id, retry_after = answer.headers.get("request-id"), retry_after_of(answer.headers)
    return api_error(Refusal(status, message, stated.get("code"), stated.get("param"), request_id, retry_after))


_ERROR = "... on Error { code message param status }"
_DRAFT = "id version content validation { problems { code message param } }"

_CREDIT = f"""mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {{
  creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {{
    ... on CreditInvoicePayload {{ replayed creditNote {{ id status amount }} }}
    {_ERROR}
  }}
}}"""
_REPLACE = f"""mutation (
  $id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String
) {{
  replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {{
    ... on ReplaceInvoicePayload {{ replayed invoice {{ id status amount }} creditNote {{ id status amount }} }}
    {_ERROR}
  }}
}}"""
_CREATE_DRAFT = f"""mutation ($content: DraftContent!) {{
  createDraft(content: $content) {{ ... on CreateDraftPayload {{ draft {{ {_DRAFT} }} }} {_ERROR} }}
}}"""
_READ_DRAFT = f"query ($id: ID!) {{ draft(id: $id) {{ {_DRAFT} }} }}"
_UPDATE_DRAFT = f"""mutation ($id: ID!, $version: Int!, $content: DraftContent!) {{
  updateDraft(id: $id, version: $version, content: $content) {{
    ... on UpdateDraftPayload {{ draft {{ {_DRAFT} }} }}
    {_ERROR}
  }}
}}"""
_ISSUE_DRAFT = f"""mutation ($id: ID!, $version: Int!) {{
  issueDraft(id: $id, version: $version) {{
    ... on IssueDraftPayload {{ replayed invoice {{ id status amount }} }}
    {_ERROR}
  }}
}}"""
_DELETE_DRAFT = f"""mutation ($id: ID!, $version: Int!) {{
  deleteDraft(id: $id, version: $version) {{ ... on DeleteDraftPayload {{ id }} {_ERROR} }}
}}"""
