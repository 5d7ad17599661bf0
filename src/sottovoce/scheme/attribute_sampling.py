"""Attribute sampling: a few attributes, drawn at random, with the whole budget."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike
from sottovoce.mechanism.diagonal import Diagonal
from sottovoce.mechanism.mechanism import Mechanism
from sottovoce.mechanism.sampling import Sampling
from sottovoce.scheme.scheme import Scheme, Sizes, odds_asked, set_fields
from sottovoce.scheme.spread_set import MOST_CELLS, spread_set, translated


@dataclass(frozen=True)
class AttributeSampling(Scheme):
    """Each respondent answers one of several sets of attributes, by a gamma-diagonal matrix over its cells.

    The set is drawn uniformly, whatever the answers, and is part of the report; so the whole odds are
    spent on a small domain instead of being shared among all attributes. The sets are all those
    of `size` attributes, or `subsets`, lists of positions in the group. What is never asked together
    cannot be estimated together. If `spread`, sets of many more cells than odds + 1 are answered by a matrix
    that favours several truths with each report, if it tells more (see `scheme.spread_set`).

    >>> mechanism = AttributeSampling(odds=3, size=2).mechanism((2, 2, 2))
    >>> len(mechanism.parts), mechanism.channel.odds
    (3, Fraction(3, 1))
    """

    name = "attribute_sampling"
    citation = "T. T. Nguyen et al. (2016), arXiv 1606.05053; N. Wang et al. (2019), Proc. ICDE, 638-649"
    identified = "odds must not be 1, nor epsilon 0, and some must be asked all of them"

    odds: Fraction
    size: int
    subsets: tuple[tuple[int, ...], ...] | None
    spread: bool

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        odds: OddsLike | None = None,
        size: int = 1,
        subsets: Iterable[Iterable[int]] | None = None,
        spread: bool = False,
    ) -> None:
        """Read the odds and the sets to draw from."""
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise SottovoceError("size", "must be a positive whole number", size)
        if not isinstance(spread, bool):
            raise SottovoceError("spread", "must be True or False", spread)
        sets = None if subsets is None else tuple(tuple(sorted(s)) for s in subsets)
        if sets is not None and (not sets or not all(sets) or any(len(set(s)) < len(s) for s in sets)):
            raise SottovoceError("subsets", "must be lists of different positions, at least one in each", sets)
        set_fields(self, odds=odds_asked(epsilon=epsilon, odds=odds), size=size, subsets=sets, spread=spread)

    def mechanism(self, sizes: Sizes) -> Sampling:
        """A coin for the set, and a gamma-diagonal coin for each set there is."""
        if self.subsets is None and self.size > len(sizes):
            raise SottovoceError("size", f"must be at most the {len(sizes)} attributes of the group", self.size)
        sets = tuple(combinations(range(len(sizes)), self.size)) if self.subsets is None else self.subsets
        if any(not 0 <= a < len(sizes) for s in sets for a in s):
            raise SottovoceError("subsets", f"must hold positions below {len(sizes)}", sets)
        return Sampling(sizes, [(s, self._part(tuple(sizes[a] for a in s))) for s in sets])

    def _part(self, sizes: Sizes) -> Mechanism:
        """Gamma-diagonal, or spread over sets of truths."""
        if self.spread and prod(sizes) <= MOST_CELLS:
            members = spread_set(sizes, self.odds)
            if len(members) > 1:
                return translated(sizes, members, self.odds)
        return Diagonal.with_ratio(sizes, self.odds)

    @classmethod
    def cases(cls) -> Iterator[tuple["AttributeSampling", Sizes]]:
        """One attribute at a time, pairs, chosen sets, one attribute there is."""
        yield cls(odds=3), (2, 3)
        yield cls(odds=4, size=2), (2, 2, 2)
        yield cls(epsilon=1, subsets=[[0, 2], [1]]), (2, 3, 2)
        yield cls(odds=2), (3,)
        yield cls(odds=2, subsets=[[0, 1], [2]], spread=True), (2, 5, 3)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Sets that are none, odds that are none."""
        yield "size", {"odds": 3, "size": 0}
        yield "subsets", {"odds": 3, "subsets": []}
        yield "subsets", {"odds": 3, "subsets": [[]]}
        yield "subsets", {"odds": 3, "subsets": [[0, 0]]}
        yield "spread", {"odds": 3, "spread": "yes"}
        yield "odds", {"odds": -1}
        yield "epsilon or odds", {}
