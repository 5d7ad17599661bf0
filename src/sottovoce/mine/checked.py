"""What a miner is told to look for, checked."""

from numbers import Integral, Real
from typing import Any

from sottovoce.errors import SottovoceError


def checked_support(value: Any) -> float:
    """Threshold of supports.

    >>> checked_support(1)
    1.0
    """
    if not _is_number(value) or not 0 < value <= 1:
        raise SottovoceError("min_support", "must be above 0 and at most 1", value)
    return float(value)


def checked_share(parameter: str, value: Any) -> float:
    """A share or a probability.

    >>> checked_share("min_confidence", 0.8)
    0.8
    """
    if not _is_number(value) or not 0 <= value <= 1:
        raise SottovoceError(parameter, "must be from 0 to 1", value)
    return float(value)


def checked_recall(value: Any) -> float:
    """Chance of a frequent set to survive.

    >>> checked_recall(0.9)
    0.9
    """
    if not _is_number(value) or not 0.5 <= value < 1:
        raise SottovoceError("recall", "must be at least .5, the bare threshold, and below 1", value)
    return float(value)


def checked_longest(value: Any, most: int) -> int:
    """Items of the longest sets that are looked for, at the most so many; as many if nothing is asked.

    >>> checked_longest(None, 30), checked_longest(4, 30), checked_longest(40, 30)
    (30, 4, 30)
    """
    if value is None:
        return most
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise SottovoceError("longest", "must be a positive whole number, or None", value)
    return min(int(value), most)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
