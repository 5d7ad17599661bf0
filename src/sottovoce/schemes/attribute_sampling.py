"""Attribute sampling: ask a few attributes, drawn at random, with the whole budget."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.schemas.attribute import ravel, unravel
from sottovoce.schemes.scheme import Scheme, Sizes, odds_asked, set_fields

MOST_CELLS = 128
"""Joint cells for which a set is searched; of more, the matrix would make plans too long."""

SMALL = 0.05
"""Keeps the search going while some difference between cells cannot be seen at all."""


def spread_set(sizes: Sequence[int], odds: Fraction) -> tuple[int, ...]:
    """Find a set D of joint cells for the channel `P(y | x) ~ odds if x - y in D else 1`.

    Differences are taken attribute by attribute, modulo its size. Of the contrasts of uniform truths such a report
    tells `(a - b)^2 |D(chi)|^2`, D(chi) the Fourier transform of the set, a and b the two entries; D makes the harmonic
    mean over all contrasts large. For a difference set it equals that of subset selection with as many cells,
    the best there is (M. Ye & A. Barg 2018, IEEE Trans. Inf. Theory 64, 5662-5676; H.-Y. Park, S.-H. Nam & S.-H. Lee
    2023, arXiv 2305.04261). The set (0,) is the gamma-diagonal matrix. The search grows a set cell by cell and
    swaps cells while that helps.

    >>> spread_set((7,), Fraction(2))
    (0, 1, 3)
    >>> spread_set((4,), Fraction(3))
    (0,)
    """
    return _searched(tuple(sizes), odds)


def translated(sizes: Sequence[int], members: Sequence[int], odds: Fraction) -> Listed:
    """Mechanism that reports y with `odds` for those truths x for which x - y is one of the members, else with 1."""
    cells = prod(sizes)
    columns = unravel(np.arange(cells), sizes)
    steps = [(c[None, :].astype(np.int64) - c[:, None]) % size for c, size in zip(columns, sizes, strict=True)]
    inside = np.isin(ravel([step.ravel() for step in steps], sizes), members).reshape(cells, cells)
    rest = 1 / (len(members) * odds + cells - len(members))
    return Listed.near(sizes, [[odds * rest if here else rest for here in row] for row in inside.tolist()])


@cache
def _searched(sizes: tuple[int, ...], odds: Fraction) -> tuple[int, ...]:
    cells, gamma = prod(sizes), float(odds)
    waves = np.fft.fftn(np.eye(cells).reshape(*sizes, cells), axes=range(len(sizes))).reshape(cells, cells)[1:]
    members, best = [0], (_told(waves, [0], gamma), [0])
    for _ in range(min(cells // 2, 2 * ceil(cells / (gamma + 1)) + 2) - 1):
        grown = _scores(waves[:, members].sum(axis=1)[:, None] + waves)
        grown[members] = np.inf
        members = _swapped(waves, [*members, int(grown.argmin())])
        told = _told(waves, members, gamma)
        if told > best[0] * (1 + 1e-9):
            best = told, sorted(members)
    return tuple(best[1])


def _swapped(waves: NDArray[np.complex128], members: list[int]) -> list[int]:
    """Put another cell in the place of a member while that spreads the set better."""
    score = float(_scores(waves[:, members].sum(axis=1)[:, None])[0])
    while True:
        total = waves[:, members].sum(axis=1)
        others = np.array([_scores((total - waves[:, member])[:, None] + waves) for member in members])
        others[:, members] = np.inf
        place, cell = np.unravel_index(others.argmin(), others.shape)
        if others[place, cell] >= score:
            return members
        score = float(others[place, cell])
        members = [*members[:place], *members[place + 1 :], int(cell)]


def _scores(transforms: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Mean of inverse squares of each column, rounded so that ties are ties on every machine."""
    return np.asarray(np.round(np.mean(1 / (np.abs(transforms) ** 2 + SMALL), axis=0), 9))


def _told(waves: NDArray[np.complex128], members: list[int], gamma: float) -> float:
    """Harmonic mean over the contrasts of what a report tells of them."""
    squares = np.abs(waves[:, members].sum(axis=1)) ** 2
    difference = (gamma - 1) / (len(members) * gamma + len(waves) + 1 - len(members))
    return float(difference**2 / np.mean(1 / np.maximum(squares, 1e-12)))


@dataclass(frozen=True)
class AttributeSampling(Scheme):
    """Each respondent answers one of several sets of attributes, by a gamma-diagonal matrix over its cells.

    The set is drawn uniformly, whatever the answers, and is part of the report; so the whole odds are
    spent on a small domain instead of being shared among all attributes. The sets are all those
    of `size` attributes, or `subsets`, lists of positions in the group. What is never asked together
    cannot be estimated together. If `spread`, sets of many more cells than odds + 1 are answered by a matrix
    that favours several truths with each report, if it tells more (see `schemes.attribute_sampling`).

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
