"""Which calls are repeated, and when."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from .errors import ApiError, ConnectionError, FatouraError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 8.0
"""The pause before the first repetition, and the longest one, seconds. Each is up to twice the one before."""
_LONGEST_RETRY_AFTER = 60.0
"""A call does not wait for a longer `Retry-After`. Whoever follows an invoice asks again after so long. Seconds."""


def is_passing(error: FatouraError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, ConnectionError):
        return not error.is_lasting
    return isinstance(error, ApiError) and (error.status in (408, 429) or error.status >= 500)


def is_undone(error: FatouraError) -> bool:
    """Whether the service has surely done nothing, so that a repetition does no harm whatever the request is."""
    return isinstance(error, ApiError) and error.status == 429


def pause_before(error: ApiError | ConnectionError, attempt: int) -> float | None:
    """How long to wait before the next attempt, seconds; None if a repetition would not help."""
    if not is_passing(error):
        return None
    retry_after = error.retry_after if isinstance(error, ApiError) else None
    if retry_after is None:
        most = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
        return random.uniform(most / 2, most)
    return None if retry_after > _LONGEST_RETRY_AFTER else max(retry_after, _FIRST_PAUSE)


def rest_of(error: FatouraError) -> float:
    """How long an error asks whoever follows an invoice to wait, seconds."""
    retry_after = error.retry_after if isinstance(error, ApiError) else None
    return min(retry_after or 0, _LONGEST_RETRY_AFTER)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3); None if it is neither."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())
