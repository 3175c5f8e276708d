"""Amounts in centimes, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from .models import LineInput, TaxRate, TaxTotal

_DEFAULT_RATE: TaxRate = 20
_MOST = 2**53 - 1
"""The largest amount of the service, which JSON carries exactly to programs in every language."""


def centimes(dirhams: str | Decimal) -> int:
    """Reads an amount in dirhams as centimes: `"1234.5"` → 123450.

    Raises TypeError for a float, because 0.1 is not exact, and ValueError for what is not an amount with at most two
    decimals, in plain digits with a point, or more than the service takes.
    """
    if not isinstance(dirhams, (str, Decimal)):
        raise TypeError(f"pass an amount as a text or a Decimal, not {dirhams!r}: other numbers are not exact")
    text = dirhams.strip() if isinstance(dirhams, str) else format(dirhams, "f")
    found = re.fullmatch(r"(-?)([0-9]{1,14})(?:\.([0-9]{1,2}))?", text)
    if found is None:
        raise ValueError(f"'{dirhams}' is not an amount in dirhams with at most two decimals, such as '1234.50'")
    sign, whole, decimals = found.groups("")
    return _within(int(f"{sign}{whole}{decimals.ljust(2, '0')}"))


def dirhams(centimes: int) -> str:
    """Writes centimes in dirhams: 123450 → `"1234.50"`. Raises TypeError for what is no int."""
    _whole("centimes", centimes)
    digits = str(abs(centimes)).rjust(3, "0")
    return f"{'-' if centimes < 0 else ''}{digits[:-2]}.{digits[-2:]}"


@dataclass(frozen=True)
class Totals:
    """Totals in centimes."""

    subtotal: int
    tax_total: int
    tax_totals: Sequence[TaxTotal]
    """Highest rate first."""
    total: int
    """What an invoice of these lines states as its `amount`."""


def totals(lines: Iterable[LineInput]) -> Totals:
    """Computes the totals of lines as the service does: VAT once for each rate, rounded half up.

    Raises TypeError for what is no int, such as the float 0.1, and ValueError for a negative quantity or price and for
    more than the service takes.
    """
    bases: dict[TaxRate, int] = {}
    for line in lines:
        stated = line.get("tax_rate")
        rate = _DEFAULT_RATE if stated is None else stated
        _whole("tax_rate", rate)
        net = _natural("quantity", line["quantity"]) * _natural("unit_price", line["unit_price"])
        bases[rate] = bases.get(rate, 0) + net
    rates: list[TaxTotal] = [
        {"rate": rate, "base": base, "tax": (base * rate + 50) // 100}
        for rate, base in sorted(bases.items(), reverse=True)
    ]
    subtotal = sum(each["base"] for each in rates)
    tax_total = sum(each["tax"] for each in rates)
    for sum_ in (subtotal, tax_total, subtotal + tax_total, *bases.values()):
        _within(sum_)
    return Totals(subtotal, tax_total, rates, subtotal + tax_total)


def _whole(name: str, number: int) -> int:
    if not isinstance(number, int):
        raise TypeError(f"{name} must be an int, not {number!r}: other numbers are not exact")
    return number


def _natural(name: str, number: int) -> int:
    if _whole(name, number) < 0:
        raise ValueError(f"{name} must not be negative, as {number} is")
    return number


def _within(centimes: int) -> int:
    if abs(centimes) > _MOST:
        raise ValueError(f"{centimes} centimes are more than the service takes")
    return centimes
