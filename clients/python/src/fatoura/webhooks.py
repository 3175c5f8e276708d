"""Webhooks: is a delivery from the service?"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol, cast

from .errors import SignatureError
from .models import InvoiceEvent


class RequestHeaders(Protocol):
    """Headers of a request, as Django, Flask, FastAPI and a `dict` have them; also a WSGI environment."""

    def items(self) -> Iterable[tuple[str, Any]]: ...


def verify(
    body: bytes | bytearray | str,
    headers: RequestHeaders | None,
    secret: str | Sequence[str | None] | None,
    *,
    tolerance: float = 300,
    now: float | None = None,
) -> InvoiceEvent:
    """Checks that a delivery of a webhook is from the service, and returns its event.

    Deduplicate by the event's `id`: the same one can be delivered more than once.

    `body` is the raw body, as it was received; `secret` the endpoint's (`whsec_…`), or several during a rotation;
    `tolerance` how much the time of a delivery may differ from this machine's, seconds from 0; `now` the present time,
    UNIX seconds, by default that of this machine. Raises SignatureError, which says what is wrong.
    """
    if not isinstance(body, (bytes, bytearray, str)):
        raise SignatureError(
            "The body was parsed before. The signature is of its bytes: pass the raw body"
            " (Django: request.body; Flask: request.get_data(); FastAPI: await request.body())."
        )
    # Of a rotation, one variable of the environment is often unset or empty. One of a file ends with a line break.
    given = [secret] if isinstance(secret, str) else secret or []
    secrets = [str(each).strip() for each in given if each and str(each).strip()]
    if not secrets or not all(each.startswith("whsec_") for each in secrets):
        raise SignatureError("The secret of an endpoint begins with whsec_. It is shown once, at its creation.")
    # No comparison applies to NaN.
    if not isinstance(tolerance, (int, float)) or not tolerance >= 0:
        raise SignatureError(f"tolerance must be a number from 0, not {tolerance!r}.")
    found = [] if headers is None else headers.items()
    header = next((str(value) for name, value in found if _is_signature(name)), None)
    if header is None:
        raise SignatureError("The header Service-Signature is missing.")
    parts = [part.strip().partition("=") for part in header.split(",")]
    stated = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch("[0-9]{1,12}", stated):
        raise SignatureError("The header Service-Signature has no time.")
    if not abs((time.time() if now is None else now) - int(stated)) <= tolerance:
        raise SignatureError(f"The delivery is of another time than this machine's (t={stated}): is its clock right?")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    signatures = [value.lower().encode() for name, _, value in parts if name == "v1"]
    for each in secrets:
        expected = hmac.new(each.encode(), f"{stated}.".encode() + raw, hashlib.sha256).hexdigest().encode()
        if any(hmac.compare_digest(expected, signature) for signature in signatures):
            return _event_of(raw)
    raise SignatureError(
        "The signature does not fit: the secret is of another endpoint, or the body was changed"
        " (parsed and printed again?)."
    )


def _event_of(raw: bytes) -> InvoiceEvent:
    with suppress(ValueError):
        event = json.loads(raw)
        if isinstance(event, dict) and isinstance(event.get("id"), str):
            return cast(InvoiceEvent, event)
    raise SignatureError("The body is signed, but is no event.")


def _is_signature(name: str) -> bool:
    """WSGI writes `HTTP_SERVICE_SIGNATURE`."""
    return name.lower().replace("_", "-").removeprefix("http-") == "service-signature"
