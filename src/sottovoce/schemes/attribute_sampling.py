"""Attribute sampling: ask each respondent a few attributes, drawn at random, with the whole privacy budget."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.checks import Array, whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked
from sottovoce.mechanisms.diagonal import Diagonal
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism
from sottovoce.mechanisms.rounding import diagonal_sides
from sottovoce.mechanisms.sampling import Sampling
from sottovoce.schemas.attribute import ravel, unravel
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields

MOST_CELLS = 128
"""Joint cells up to which a set is searched for; for more, the matrix would make plans too long."""

COHERENT = 0.5
"""Least share of a contrast of one attribute that the reports of all sets must leave; below, sets are moved."""

SMALL = 0.05
"""Added to squares of the Fourier transform, so that the search can go on while some of them are zero."""

Waves = NDArray[np.complex128]
"""Fourier basis over the joint cells: contrasts by cells."""


def spread_set(sizes: Sequence[int], odds: Fraction) -> tuple[int, ...]:
    """Search for a set D of joint cells for the channel `P(y | x) ~ odds if x - y in D else 1`.

    Differences are taken attribute by attribute, modulo its size. The information of a report about a contrast of
    uniform truths is `(a - b)^2 |D(chi)|^2`, with the Fourier transform D(chi) of the set and the matrix's two entries
    a and b; the search maximises the harmonic mean over all contrasts. For a difference set it equals that of subset
    selection with as many cells, the best possible (M. Ye & A. Barg 2018, IEEE Trans. Inf. Theory 64, 5662-5676; H.-Y.
    Park, S.-H. Nam & S.-H. Lee 2023, arXiv 2305.04261). The set (0,) is the gamma-diagonal matrix. The search adds
    cells one by one and swaps cells while that helps.

    >>> spread_set((7,), Fraction(2))
    (0, 1, 3)
    >>> spread_set((4,), Fraction(3))
    (0,)
    """
    return _search(tuple(sizes), odds)


def spread_sets(sizes: Sequence[int], subsets: Iterable[Sequence[int]], odds: Fraction) -> dict[Sizes, tuple[int, ...]]:
    """Return the set of each shape of joint cells that some of the sets of attributes have; (0,) for too many cells.

    The report of one attribute mixes those of all sets that it is asked in. `D(chi)` of its contrasts has a sign, or
    a phase, for each of them, so that they may cancel out, although each set alone tells the attribute. Where less than
    half is left of some contrast, every set is moved to where, attribute by attribute, its reports favour the truth:
    that changes phases only, and no information of whole reports. Otherwise sets are those of `spread_set`.

    >>> spread_sets((2, 2, 3, 3), [(0, 1, 2), (0, 2, 3)], Fraction(2))
    {(2, 2, 3): (0, 1, 5, 6, 9), (2, 3, 3): (0, 2, 4, 6, 7, 8, 9, 11, 12)}
    """
    asked = [tuple(axes) for axes in subsets]
    shapes = dict.fromkeys(tuple(sizes[a] for a in axes) for axes in asked)
    found = {shape: spread_set(shape, odds) if prod(shape) <= MOST_CELLS else (0,) for shape in shapes}
    if _least_coherence(sizes, asked, found, float(odds)) >= COHERENT:
        return found
    return {shape: _favouring_the_truth(shape, members) for shape, members in found.items()}


def _least_coherence(
    sizes: Sequence[int], subsets: list[tuple[int, ...]], found: dict[Sizes, tuple[int, ...]], gamma: float
) -> float:
    """Least share of a contrast of one attribute that is left in the mixture of all reports of it."""
    sums = [np.zeros(size, dtype=np.complex128) for size in sizes]
    moduli = [np.zeros(size) for size in sizes]
    for axes in subsets:
        shape = tuple(sizes[a] for a in axes)
        members = found[shape]
        difference = (gamma - 1) / (len(members) * gamma + prod(shape) - len(members))
        for a, steps in zip(axes, unravel(np.array(members), shape), strict=True):
            contrasts = difference * np.fft.fft(np.bincount(steps, minlength=sizes[a]))
            sums[a] += contrasts
            moduli[a] += np.abs(contrasts)
    shares = [np.abs(total)[1:] / np.maximum(most[1:], 1e-12) for total, most in zip(sums, moduli, strict=True)]
    told = [share[most[1:] > 1e-9] for share, most in zip(shares, moduli, strict=True)]
    return float(np.concatenate([*told, [1.0]]).min())


def _favouring_the_truth(shape: Sizes, members: tuple[int, ...]) -> tuple[int, ...]:
    """Move a set so that zero is, for each attribute, the commonest difference of its members."""
    steps = unravel(np.array(members), shape)
    modes = [int(np.bincount(step, minlength=size).argmax()) for step, size in zip(steps, shape, strict=True)]
    moved = [(step.astype(np.int64) - mode) % size for step, mode, size in zip(steps, modes, shape, strict=True)]
    return tuple(sorted(ravel(moved, shape).tolist()))


def translated(sizes: Sequence[int], members: Sequence[int], odds: Fraction) -> Listed:
    """Mechanism with `P(y | x)` proportional to `odds` if x - y is one of the members, else to 1.

    Rounding keeps that form, so that the report of some of the attributes depends on the truth of these alone.
    """
    cells = prod(sizes)
    columns = unravel(np.arange(cells), sizes)
    steps = [(c[None, :].astype(np.int64) - c[:, None]) % size for c, size in zip(columns, sizes, strict=True)]
    inside = np.isin(ravel([step.ravel() for step in steps], sizes), members).reshape(cells, cells)
    favoured, other = diagonal_sides(cells, odds, len(members))
    return Listed(sizes, [[favoured if member else other for member in row] for row in inside.tolist()])


@cache
def _search(sizes: tuple[int, ...], odds: Fraction) -> tuple[int, ...]:
    cells, gamma = prod(sizes), float(odds)
    waves = np.fft.fftn(np.eye(cells).reshape(*sizes, cells), axes=range(len(sizes))).reshape(cells, cells)[1:]
    members, best = [0], (_information(waves, [0], gamma), [0])
    for _ in range(min(cells // 2, 2 * ceil(cells / (gamma + 1)) + 2) - 1):
        with_cell = _scores(waves[:, members].sum(axis=1)[:, None] + waves)
        with_cell[members] = np.inf
        members = _improved_by_swaps(waves, [*members, int(with_cell.argmin())])
        information = _information(waves, members, gamma)
        if information > best[0] * (1 + 1e-9):
            best = information, sorted(members)
    return tuple(best[1])


def _improved_by_swaps(waves: Waves, members: list[int]) -> list[int]:
    """Replace members by other cells while that lowers the score."""
    score = float(_scores(waves[:, members].sum(axis=1)[:, None])[0])
    while True:
        total = waves[:, members].sum(axis=1)
        swapped = np.array([_scores((total - waves[:, member])[:, None] + waves) for member in members])
        swapped[:, members] = np.inf
        index, cell = np.unravel_index(swapped.argmin(), swapped.shape)
        if swapped[index, cell] >= score:
            return members
        score = float(swapped[index, cell])
        members = [*members[:index], *members[index + 1 :], int(cell)]


def _scores(transforms: Waves) -> Array:
    """Mean inverse square of each column, rounded so that ties are ties on every machine; less is better."""
    return np.asarray(np.round(np.mean(1 / (np.abs(transforms) ** 2 + SMALL), axis=0), 9))


def _information(waves: Waves, members: list[int], gamma: float) -> float:
    """Harmonic mean, over the contrasts, of the information of a report."""
    squares = np.abs(waves[:, members].sum(axis=1)) ** 2
    difference = (gamma - 1) / (len(members) * gamma + len(waves) + 1 - len(members))
    return float(difference**2 / np.mean(1 / np.maximum(squares, 1e-12)))


@dataclass(frozen=True)
class AttributeSampling(Scheme):
    """Each respondent answers one of several sets of attributes, by a gamma-diagonal matrix over its joint cells.

    The set is drawn uniformly, independently of the answers, and is part of the report; so the whole odds are spent on
    a small domain instead of being shared among all attributes. The sets are all those of `size` attributes, or
    `subsets`, lists of attributes' positions in the group, counted from 0. Attributes that are never asked together
    cannot be estimated jointly. With `spread=True`, sets with many more cells than odds + 1 are answered by a matrix in
    which each report favours several truths, if it is more informative (`spread_set`).

    >>> mechanism = AttributeSampling(odds=3, size=2).mechanism((2, 2, 2))
    >>> len(mechanism.parts), mechanism.channel.odds
    (3, Fraction(3, 1))
    """

    name = "attribute_sampling"
    citation = "T. T. Nguyen et al. (2016), arXiv 1606.05053; N. Wang et al. (2019), Proc. ICDE, 638-649"
    identified = "odds must not be 1, nor epsilon 0, and some respondents must be asked all of them"

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
        if not isinstance(spread, bool):
            raise SottovoceError("spread", "must be True or False", spread)
        set_fields(
            self,
            odds=odds_asked(epsilon=epsilon, odds=odds),
            size=whole_number("size", size),
            subsets=None if subsets is None else _checked_subsets(subsets),
            spread=spread,
        )

    def mechanism(self, sizes: Sizes) -> Sampling:
        """A coin that draws the set, and a gamma-diagonal coin for each set."""
        if self.subsets is None and self.size > len(sizes):
            raise SottovoceError("size", f"must be at most the {len(sizes)} attributes of the group", self.size)
        sets = tuple(combinations(range(len(sizes)), self.size)) if self.subsets is None else self.subsets
        if any(a >= len(sizes) for s in sets for a in s):
            rule = f"must hold positions of the group's {len(sizes)} attributes, from 0 to {len(sizes) - 1}"
            raise SottovoceError("subsets", rule, sets)
        shapes = [tuple(sizes[a] for a in s) for s in sets]
        spread = spread_sets(sizes, sets, self.odds) if self.spread else {}
        parts = {shape: self._part(shape, spread.get(shape, (0,))) for shape in dict.fromkeys(shapes)}
        return Sampling(sizes, [(s, parts[shape]) for s, shape in zip(sets, shapes, strict=True)])

    def _part(self, sizes: Sizes, members: tuple[int, ...]) -> Mechanism:
        """Gamma-diagonal mechanism, or one in which each report favours several truths."""
        if len(members) > 1:
            return translated(sizes, members, self.odds)
        return Diagonal.with_ratio(sizes, self.odds)

    @classmethod
    def cases(cls) -> Iterator[tuple["AttributeSampling", Sizes]]:
        """One attribute at a time, pairs, given sets, a group of one attribute, spread."""
        yield cls(odds=3), (2, 3)
        yield cls(odds=4, size=2), (2, 2, 2)
        yield cls(epsilon=1, subsets=[[0, 2], [1]]), (2, 3, 2)
        yield cls(odds=2), (3,)
        yield cls(odds=2, subsets=[[0, 1], [2]], spread=True), (2, 5, 3)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Empty and repeated sets, sets that are not positions, invalid odds."""
        yield "size", {"odds": 3, "size": 0}
        yield "subsets", {"odds": 3, "subsets": []}
        yield "subsets", {"odds": 3, "subsets": [[]]}
        yield "subsets", {"odds": 3, "subsets": [[0, 0]]}
        yield "subsets", {"odds": 3, "subsets": [["age"]]}
        yield "subsets", {"odds": 3, "subsets": ["age", "sex"]}
        yield "subsets", {"odds": 3, "subsets": [0, 1]}
        yield "subsets", {"odds": 3, "subsets": 2}
        yield "subsets", {"odds": 3, "subsets": [[-1]]}
        yield "spread", {"odds": 3, "spread": "yes"}
        yield "odds", {"odds": -1}
        yield "epsilon or odds", {}


def _checked_subsets(subsets: Any) -> tuple[tuple[int, ...], ...]:
    """Return sets of attributes' positions, each sorted."""
    rule = "must be lists of positions of attributes in the group, counted from 0, such as [[0, 2], [1]]"
    try:
        sets = tuple(tuple(whole_number("subsets", a, least=0) for a in subset) for subset in subsets)
    except (TypeError, SottovoceError):
        raise SottovoceError("subsets", rule, subsets) from None
    if not sets or not all(sets) or any(len(set(s)) < len(s) for s in sets):
        raise SottovoceError("subsets", "must be lists of different positions, at least one in each", sets)
    return tuple(tuple(sorted(s)) for s in sets)
