"""Inputs and results of corrections and drafts, which have the names of GraphQL, and options of calls."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Literal

from .models import CreatedInvoice, InvoiceStatus

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

Include = Literal["number", "totals", "terms", "warnings", "credits", "customer", "lines"]
"""Members that answers have only if they are asked for."""

CreditReason = Literal["error", "return", "cancellation", "discount", "other"]
"""Why an accepted invoice is credited."""


class Creation(CreatedInvoice):
    """A created invoice."""

    replayed: bool
    """Whether an earlier request with the same key had created it."""


class CreditedLine(TypedDict):
    line: int
    """Counted from 1."""
    quantity: float
    """With up to three decimal places."""


class CreditedAmount(TypedDict):
    taxRate: int
    net: int
    """In centimes."""
    description: NotRequired[str]


class CreditInput(TypedDict):
    """What is credited: all that is left, or lines, or amounts by rate of VAT."""

    reason: CreditReason
    note: NotRequired[str]
    lines: NotRequired[Sequence[CreditedLine]]
    amounts: NotRequired[Sequence[CreditedAmount]]
    metadata: NotRequired[Mapping[str, str]]


class CreditNote(TypedDict):
    """A credit note as it was created."""

    id: str
    """Prefix `crn_`."""
    status: InvoiceStatus
    amount: int
    """Positive, in centimes."""


class Credit(TypedDict):
    creditNote: CreditNote
    replayed: bool


class IssuedInvoice(TypedDict):
    id: str
    status: InvoiceStatus
    amount: int


class Replacement(TypedDict):
    invoice: IssuedInvoice
    creditNote: CreditNote | None
    """None if there was nothing to credit."""
    replayed: bool


DraftContent = Mapping[str, object]
"""What is typed of an invoice: members of GraphQL's `InvoiceDraft`, any of them."""


class DraftProblem(TypedDict):
    code: str
    message: str
    param: str | None


class DraftValidation(TypedDict):
    problems: Sequence[DraftProblem]


class DraftVersion(TypedDict):
    """Whoever changes a draft names the version that was read."""

    id: str
    """Prefix `drf_`."""
    version: int


class Draft(DraftVersion):
    content: DraftContent
    validation: DraftValidation
    """What keeps it from being issued now."""


class Issued(TypedDict):
    """An issued draft."""

    invoice: IssuedInvoice
    replayed: bool
