"""What a request for an information design must satisfy before anything is solved."""

from math import isnan
from typing import Any

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.matrices import as_prior
from sottovoce.measure.reals import real_array


def checked_prior(prior: Any) -> Array:
    """Distribution over the truths in which every truth can occur.

    >>> checked_prior([1, 0])
    Traceback (most recent call last):
    ...
    sottovoce.errors.SottovoceError: prior must be above 0 everywhere; leave zeros out. Got [1.0, 0.0] instead.
    """
    array = real_array("prior", prior)
    if array.ndim != 1 or not array.size:
        raise SottovoceError("prior", "must be a list of probabilities", array.shape)
    law: Array = as_prior(array, array.size)
    if not (law > 0).all():
        raise SottovoceError("prior", "must be above 0 everywhere; leave zeros out", array.tolist())
    return law


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
