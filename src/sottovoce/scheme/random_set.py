"""Randomly drawn sets: mixtures of weighted designs, for as many sets as nobody could list."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.channel.conditional_poisson import ConditionalPoisson
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike
from sottovoce.mechanism.random_set import DrawnSet
from sottovoce.scheme.scheme import Scheme, Sizes, odds_asked, set_fields

Component = tuple[int, int, Iterable[int]]
"""Weight, size of the sets, and a weight for each category: whole numbers of at least one."""


@dataclass(frozen=True)
class RandomSet(Scheme):
    """`P(S | x) = m(S) (g if x in S else 1) / norm_x`, `m(S) = sum_c mu_c prod_{i in S} w_ci` over |S| = T_c.

    `components` are (mu_c, T_c, w_c). Equal weights and one size make it subset selection; unequal ones make a design
    for categories that are not equally frequent. The odds are `g max_x norm_x / min_x norm_x`: those asked for, so
    that a design whose norms differ pays for it with a smaller g. A component that is drawn less often than once in
    2^40 is rounded coarsely, and better left out.

    >>> mechanism = RandomSet([(1, 2, [1] * 12), (5, 3, [1] * 12)], odds=3).mechanism((12,))
    >>> 2.999999 < mechanism.channel.odds <= 3
    True
    """

    name = "random_set"
    citation = "S. X. Chen, A. P. Dempster & J. S. Liu (1994), Biometrika 81; M. Ye & A. Barg (2018), IEEE Trans. IT 64"

    components: tuple[ConditionalPoisson, ...]
    odds: Fraction

    def __init__(
        self, components: Iterable[Component], epsilon: Number | None = None, *, odds: OddsLike | None = None
    ) -> None:
        """Read the components; turn epsilon into odds, rounded down."""
        read = tuple(_component(given) for given in components)
        if not read:
            raise SottovoceError("components", "must be at least one", read)
        set_fields(self, components=read, odds=odds_asked(epsilon=epsilon, odds=odds))

    def mechanism(self, sizes: Sizes) -> DrawnSet:
        """A coin for the component and the truth, and one for each other category."""
        return DrawnSet.with_odds(sizes, self.components, self.odds)

    @classmethod
    def cases(cls) -> Iterator[tuple["RandomSet", Sizes]]:
        """Subset selection, two sizes, skewed weights, joint records, two categories, saying nothing."""
        yield cls([(1, 2, [1] * 5)], odds=3), (5,)
        yield cls([(1, 1, [1] * 4), (2, 2, [1] * 4)], epsilon=1), (4,)
        yield cls([(3, 2, [9, 4, 2, 1, 1, 1])], epsilon=0.5), (6,)
        yield cls([(1, 3, [1, 2, 1, 2, 1, 2]), (40, 1, [2, 1, 2, 1, 2, 1])], odds="5:2"), (2, 3)
        yield cls([(1, 1, [1, 1])], odds=1), (2,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Components that are none, weights and sizes out of range, odds that are none."""
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
        yield "items", {"components": [(1, 1, [2**32 + 1, 1])], "odds": 3}
        yield "odds", {"components": [(1, 1, [1, 1])], "odds": 0}
        yield "epsilon or odds", {"components": [(1, 1, [1, 1])]}


def _component(given: Any) -> ConditionalPoisson:
    if isinstance(given, ConditionalPoisson):
        return given
    try:
        weight, size, items = given
    except (TypeError, ValueError):
        raise SottovoceError("components", "must be (weight, size, item weights)", given) from None
    return ConditionalPoisson(weight, size, items)
