"""Randomly drawn sets: mixtures of weighted designs over more sets than can be listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

from sottovoce.channels.slabs import FloatSlab, Slab, largest_item_weight, nearest_slabs, whole_weights
from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked
from sottovoce.mechanisms.random_set import SetByRank
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields

Component = tuple[int, int, Iterable[int]] | tuple[int, int, Iterable[int], Iterable[int]]
"""Weight, size of the sets, and for each category a weight and, optionally, a length: positive integers."""


@dataclass(frozen=True)
class RandomSet(Scheme):
    """`P(S | x) = m(S) t_S u_S(x) / norm_x`, `m(S) = sum_c mu_c prod_{i in S} w_ci` over S of total length T_c.

    `components` are (mu_c, T_c, w_c), or (mu_c, T_c, w_c, g_c) if categories have lengths; otherwise T_c is the number
    of members. `u_S(x)` is g if x is in S and 1 if not. `t_S` is 1, or `sum_i h_i u_S(i)` with a `tilt` h: with h near
    the prior, the error of the estimates at that prior is the least that these sets allow. Equal weights and one size
    are subset selection; unequal weights suit categories that are not equally frequent. The odds are
    `g max_x norm_x / min_x norm_x`, and g is chosen to give the odds asked for. With `odds=inf`, u_S(x) is 1 or 0: the
    truth is always in the set, which is not deniable.

    >>> mechanism = RandomSet([(1, 2, [1] * 12), (5, 3, [1] * 12)], odds=3).mechanism((12,))
    >>> 2.999999 < mechanism.channel.odds <= 3
    True
    """

    name = "random_set"
    citation = "S. X. Chen, A. P. Dempster & J. S. Liu (1994), Biometrika 81; M. Ye & A. Barg (2018), IEEE Trans. IT 64"

    components: tuple[Slab, ...]
    odds: Fraction | None
    tilt: tuple[int, ...] | None

    def __init__(
        self,
        components: Iterable[Component | Slab],
        epsilon: Number | None = None,
        *,
        odds: OddsLike | None = None,
        tilt: Iterable[int] | None = None,
    ) -> None:
        """Read the components and the odds, or convert epsilon to odds, rounded down."""
        read = tuple(_component(given) for given in components)
        if not read:
            raise SottovoceError("components", "must be at least one", read)
        weights = None if tilt is None else tuple(tilt)
        for weight in weights or ():
            whole_number("tilt", weight, most=largest_item_weight())
        asked = None if odds == inf and epsilon is None else odds_asked(epsilon=epsilon, odds=odds)
        set_fields(self, components=read, odds=asked, tilt=weights)

    @classmethod
    def near(cls, components: Iterable[FloatSlab], odds: OddsLike, tilt: Iterable[float] | None = None) -> "RandomSet":
        """Scheme with integers near a design in floating point, within the odds asked for.

        `components` are (share of m, total length T, weights, lengths or None for all 1), as optimisers return them.
        Probabilities of sets are off by about `(T + 1) 2^-36`, unless the weights differ by more than a factor 1e66
        (see `whole_weights`). Weights of very different size make large integers, and reports take longer to draw.

        >>> design = RandomSet.near([(1.0, 2, [0.5, 0.3, 0.2, 0.1], None)], odds=3, tilt=[0.4, 0.3, 0.2, 0.1])
        >>> float(design.mechanism((4,)).channel.odds)
        3.0
        """
        weights = None if tilt is None else whole_weights("tilt", list(tilt))
        return cls(nearest_slabs(components), odds=odds, tilt=weights)

    def mechanism(self, sizes: Sizes) -> SetByRank:
        """One large random integer, with a coin for each digit."""
        return SetByRank.with_odds(sizes, self.components, self.odds, self.tilt)

    @classmethod
    def cases(cls) -> Iterator[tuple["RandomSet", Sizes]]:
        """Subset selection, two sizes, skewed weights, joint records, uninformative, lengths, tilts, not deniable."""
        yield cls([(1, 2, [1] * 5)], odds=3), (5,)
        yield cls([(1, 1, [1] * 4), (2, 2, [1] * 4)], epsilon=1), (4,)
        yield cls([(3, 2, [9, 4, 2, 1, 1, 1])], epsilon=0.5), (6,)
        yield cls([(1, 3, [1, 2, 1, 2, 1, 2]), (40, 1, [2, 1, 2, 1, 2, 1])], odds="5:2"), (2, 3)
        yield cls([(1, 1, [1, 2])], odds=1), (2,)
        yield cls([(2, 3, [5, 4, 3, 2], [2, 1, 1, 1]), (1, 1, [1] * 4)], odds=3), (4,)
        yield cls([(1, 2, [9, 4, 2, 1, 1])], epsilon=1, tilt=[5, 4, 3, 2, 1]), (5,)
        yield cls([(1, 4, [1, 2, 1, 2, 1, 2], [1, 2, 3, 1, 2, 3])], odds="5:2", tilt=[1, 1, 2, 2, 3, 9]), (2, 3)
        yield cls([(1, 2, [2**34, 2**32 + 1, 2**33])], odds=2), (3,)
        yield cls([(1, 1, [1] * 3), (2, 2, [1, 2, 3])], odds=inf), (3,)
        yield cls([(1, 3, [1, 2, 3, 4], [1, 2, 2, 1])], odds=inf, tilt=[1, 2, 3, 4]), (4,)
        yield cls([(1, 1, [1, 2])], odds=1, tilt=[1, 2]), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Invalid components, weights and sizes out of range, invalid odds."""
        yield "components", {"components": [], "odds": 3}
        yield "components", {"components": [(1, 1)], "odds": 3}
        yield "components", {"components": [3], "odds": 3}
        yield "weight", {"components": [(0, 1, [1, 1])], "odds": 3}
        yield "weight", {"components": [(1.5, 1, [1, 1])], "odds": 3}
        yield "size", {"components": [(1, 2, [1, 1])], "odds": 3}
        yield "size", {"components": [(1, 0, [1, 1])], "odds": 3}
        yield "items", {"components": [(1, 1, [1])], "odds": 3}
        yield "items", {"components": [(1, 1, [0, 1])], "odds": 3}
        yield "items", {"components": [(1, 1, [True, 1])], "odds": 3}
        yield "items", {"components": [(1, 1, [2**256 + 1, 1])], "odds": 3}
        yield "lengths", {"components": [(1, 1, [1, 1], [1])], "odds": 3}
        yield "lengths", {"components": [(1, 1, [1, 1], [1, 0])], "odds": 3}
        yield "size", {"components": [(1, 3, [1, 1], [2, 2])], "odds": 3}
        yield "tilt", {"components": [(1, 1, [1, 1])], "odds": 3, "tilt": [1, 0]}
        yield "epsilon or odds", {"components": [(1, 1, [1, 1])], "odds": inf, "epsilon": 1}
        yield "odds", {"components": [(1, 1, [1, 1])], "odds": 0}
        yield "epsilon or odds", {"components": [(1, 1, [1, 1])]}


def _component(given: Any) -> Slab:
    if isinstance(given, Slab):
        return given
    try:
        weight, size, items, *lengths = given
        (steps,) = lengths or [None]
    except (TypeError, ValueError):
        rule = "must be (weight, size, item weights), or these and lengths"
        raise SottovoceError("components", rule, given) from None
    return Slab(weight, size, items, steps)
