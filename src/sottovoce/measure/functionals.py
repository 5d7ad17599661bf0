"""Functionals of the distribution of one attribute, or of any joint cells.

Those of two-way tables are in `association`, `correlation` and `two_by_two`, users' own in `gradients`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array
from sottovoce.errors import SottovoceError
from sottovoce.measure.functional import cells, checked_scores, not_negative, plogp, positive


@dataclass(frozen=True)
class Entropy:
    """`H = -sum_i p_i log2 p_i` bits, gradient `-(log2 p_i + 1 / ln 2)` (Wang, Wu & Hu 2016, eq. 25).

    Not defined for an estimate with negative cells; steep near zero cells, where it has no gradient.

    >>> Entropy().value([0.5, 0.25, 0.25])
    1.5
    """

    name = "entropy"

    def value(self, p: Any) -> float:
        """Bits; a cell that is zero adds nothing."""
        return float(self.values(not_negative(cells(p), "entropy")[:, None])[0])

    def values(self, laws: Array) -> Array:
        """Bits of each column of a matrix of distributions."""
        return np.asarray(-plogp(laws).sum(axis=0))

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        return -(np.log2(positive(cells(p), "gradient of the entropy")) + 1 / log(2))


@dataclass(frozen=True)
class Mean:
    """`sum_i s_i p_i` for a score s of every category; linear, so negative cells are welcome.

    >>> Mean([0, 1, 2]).value([0.5, 0.25, 0.25])
    0.75
    """

    name = "mean"

    scores: tuple[float, ...]

    def __init__(self, scores: Iterable[float]) -> None:
        """Read finite scores."""
        object.__setattr__(self, "scores", checked_scores("scores", scores))

    def value(self, p: Any) -> float:
        """Mean score."""
        return float(cells(p, (len(self.scores),)) @ np.array(self.scores))

    def gradient(self, p: Any) -> Array:
        """Scores themselves."""
        cells(p, (len(self.scores),))
        return np.array(self.scores)


@dataclass(frozen=True)
class ConditionalProbability:
    """`P(event | given) = sum of p over both / sum of p over given`, for cells by their numbers.

    Its gradient is `(1[event] - P(event | given)) / P(given)` in the given cells and 0 elsewhere. Negative
    cells are welcome as long as the given ones have a positive sum.

    >>> ConditionalProbability(event=[1, 3], given=[2, 3]).value([0.4, 0.1, 0.2, 0.3])
    0.6
    """

    name = "conditional probability"

    event: frozenset[int]
    given: frozenset[int]

    def __init__(self, event: Iterable[int], given: Iterable[int]) -> None:
        """Read numbers of cells."""
        object.__setattr__(self, "event", _cell_numbers("event", event))
        object.__setattr__(self, "given", _cell_numbers("given", given))

    def value(self, p: Any) -> float:
        """Share of the event among the given cells."""
        both, given, _ = self._parts(p)
        return both / given

    def gradient(self, p: Any) -> Array:
        """Derivative by every cell."""
        both, given, gradient = self._parts(p)
        gradient[list(self.given)] = -both / given**2
        gradient[list(self.event & self.given)] += 1 / given
        return gradient

    def _parts(self, p: Any) -> tuple[float, float, Array]:
        array = cells(p)
        for parameter, numbers in (("event", self.event), ("given", self.given)):
            if max(numbers) >= array.size:
                raise SottovoceError(parameter, f"must be numbers of the {array.size} cells", sorted(numbers))
        given = float(array[list(self.given)].sum())
        if given <= 0:
            raise SottovoceError("p", "must have a positive sum over the given cells", given)
        return float(array[list(self.event & self.given)].sum()), given, np.zeros(array.size)


def _cell_numbers(parameter: str, numbers: Iterable[int]) -> frozenset[int]:
    found = frozenset(int(number) for number in numbers)
    if not found or min(found) < 0:
        raise SottovoceError(parameter, "must be at least one number of a cell, from 0 on", sorted(found))
    return found
