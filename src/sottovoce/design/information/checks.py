"""What a request for an information design must satisfy before anything is solved."""

from math import isnan

from sottovoce.errors import SottovoceError
from sottovoce.measure.reals import real_array


def checked_odds(odds: float | None) -> float | None:
    """Odds as a finite number of at least one, or None where they are unbounded.

    >>> checked_odds(0.5)
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: odds must be a finite number of at least 1, or None if unbounded. Got 0.5 instead.
    """
    if odds is None:
        return None
    number = real_array("odds", odds)
    if number.ndim or not 1 <= number < float("inf"):
        raise SottovoceError("odds", "must be a finite number of at least 1, or None if unbounded", odds)
    return float(number)


def checked_distortion(distortion: float, smallest: float) -> float:
    """Distortion that some channel has; rounding below the smallest one is forgiven."""
    number = real_array("distortion", distortion)
    if number.ndim or isnan(number) or number > 1:
        raise SottovoceError("distortion", "must be a probability", distortion)
    if number < smallest - ROUNDING:
        rule = f"must be at least {smallest:.12g}, the smallest that these odds and this prior allow"
        raise SottovoceError("distortion", rule, distortion)
    return max(float(number), smallest)


ROUNDING = 1e-12
"""How far below the smallest distortion a request may be by the rounding of its digits."""
