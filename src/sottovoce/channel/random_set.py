"""A set of categories drawn from a mixture of weighted designs, with too many sets to list."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, checked_shape
from sottovoce.channel.conditional_poisson import SIDES, ConditionalPoisson
from sottovoce.channel.drawn_sets import LARGEST_EXHAUSTED, DrawnSets
from sottovoce.channel.set_draw import SetDraw
from sottovoce.errors import SottovoceError
from sottovoce.exact import fraction


@dataclass(frozen=True)
class RandomSet(DrawnSets):
    """`A[S, x]` near `m(S) (g if x in S else 1) / norm_x`, `m(S) = sum_c mu_c prod_{i in S} w_ci` over |S| = T_c.

    The probabilities of the draw (`SetDraw`) are rounded to whole sides of coins, and entries are products of these
    exactly. A good design makes `norm_x = sum_S m(S) (g if x in S else 1)` the same for all truths; the odds
    are then g = `favour`, but for rounding. For more than ten categories they are a bound, proven in `SetDraw`.

    >>> pairs = RandomSet((6,), [ConditionalPoisson(1, 2, [1] * 6)], 3)
    >>> 0 < pairs.odds - 3 < 1e-17
    True
    """

    shape_in: tuple[int, ...]
    components: tuple[ConditionalPoisson, ...]
    favour: Fraction

    def __init__(self, shape_in: Iterable[int], components: Iterable[ConditionalPoisson], favour: Any) -> None:
        """Check that every component weighs every category, and that sets favour the truth."""
        object.__setattr__(self, "shape_in", checked_shape(shape_in))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", fraction("favour", favour))
        self._check_components()
        if self.favour < 1:
            raise SottovoceError("favour", "must be at least 1", favour)

    @cached_property
    def draw(self) -> SetDraw:
        """Coins that draw the set."""
        return SetDraw(self.components, self.favour)

    @cached_property
    def odds(self) -> Fraction:
        """Largest ratio over all sets, or from more than ten categories on a bound that is hardly larger."""
        return self.draw.largest_odds() if self.n_in <= LARGEST_EXHAUSTED else self.draw.odds_bound()

    def probability(self, members: set[int], truth: int) -> Fraction:
        """Ways the coins can fall, over all there are."""
        return Fraction(self.draw.ways(members, truth), SIDES**self.n_in)

    def score_matrix(self) -> Array:
        """`M[j, x] = P(j in S | x)`, for any n, to double precision.

        >>> RandomSet((3,), [ConditionalPoisson(1, 1, [1, 1, 1])], 2).score_matrix()
        array([[0.5 , 0.25, 0.25],
               [0.25, 0.5 , 0.25],
               [0.25, 0.25, 0.5 ]])
        """
        return np.array([list(self.draw.shares(truth)) for truth in range(self.n_in)]).T

    @classmethod
    def cases(cls) -> Iterator["RandomSet"]:
        """Alike, two sizes and skewed, a rare component, joint truths, saying nothing."""
        yield cls((4,), [ConditionalPoisson(1, 2, [1] * 4)], 3)
        yield cls((5,), [ConditionalPoisson(7, 1, [5, 1, 1, 2, 9]), ConditionalPoisson(2, 3, [1, 4, 2, 2, 1])], 2)
        yield cls((3,), [ConditionalPoisson(1, 1, [1, 1, 1]), ConditionalPoisson(2**70, 2, [1, 2, 3])], "9/2")
        yield cls((2, 3), [ConditionalPoisson(1, 2, [1, 1, 2, 3, 3, 1000])], "7/5")
        yield cls((3,), [ConditionalPoisson(1, 1, [1, 2, 3])], 1)
