"""What a client checks before it uses anything: rules, integers as text, lowest terms."""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import Any

Json = dict[str, Any]


class RefusedError(Exception):
    """The client will not use this document."""


def require(condition: object, rule: str) -> None:
    """Refuse a document that breaks a rule.

    >>> require(2 > 3, "two must be more than three")
    Traceback (most recent call last):
    ...
    conformance.client.rules.RefusedError: two must be more than three
    """
    if not condition:
        raise RefusedError(rule)


def whole(text: object) -> int:
    """Integer written as text, in the digits 0 to 9 and without a sign.

    >>> whole("18446744073709551616")
    18446744073709551616
    """
    written = text if isinstance(text, str) else ""
    require(written and set(written) <= set("0123456789"), f"no integer as text: {text!r}")
    return int(written)


def wholes(json: object) -> list[int]:
    """Integers of a list, each written as text."""
    return [whole(text) for text in listed(json)]


def listed(json: Any) -> list[Any]:
    """A list, and no text, whose characters some languages would take for its entries."""
    require(isinstance(json, list), f"no list: {json!r}")
    found: list[Any] = json
    return found


def require_lowest_terms(*integers: int) -> None:
    """Refuse integers that could be smaller, and zeros, of which no coin can be made."""
    require(gcd(*integers) == 1, f"not in lowest terms: {integers}")


def require_share(some: int, sides: int) -> None:
    """Refuse more sides than a coin has, and a share that is not in lowest terms."""
    require(some <= sides, f"more than the coin's {sides} sides: {some}")
    require_lowest_terms(some, sides)


def larger(above: int, below: int) -> Fraction | None:
    """Ratio of two integers or its inverse, whichever is larger; None where it is unbounded.

    >>> larger(1, 3), larger(1, 0)
    (Fraction(3, 1), None)
    """
    low, high = sorted((above, below))
    return Fraction(high, low) if low else None


def multiplied(factors: Sequence[Fraction | None]) -> Fraction | None:
    """Odds of reports with coins of their own; unbounded if any of them are."""
    result = Fraction(1)
    for odds in factors:
        if odds is None:
            return None
        result *= odds
    return result
