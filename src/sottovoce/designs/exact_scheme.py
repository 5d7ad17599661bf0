"""From an optimiser's floating-point channel to the exact integers of a scheme, rounded towards privacy."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, log
from typing import Any, ClassVar

import numpy as np

from sottovoce.channels.channel import Array, Channel
from sottovoce.channels.random_set import RandomSet as DrawnSet
from sottovoce.channels.slabs import Slab
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import MissingExtraError, SottovoceError
from sottovoce.mechanisms.coins import MOST_SIDES
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism, mechanism_from_json
from sottovoce.mechanisms.rounding import Rows, in_lowest_terms, matrix_odds
from sottovoce.schemes.random_set import RandomSet
from sottovoce.schemes.scheme import Scheme, Sizes, schemes

MARGINS = (Fraction(0), *(Fraction(1, 10**digits) for digits in (15, 13, 11, 9)))
"""Relative distances from the odds asked for, the first of which that integers can keep is taken."""

SLIVER = 1e-8
"""Largest probability of a report that is not worth having alone."""


@dataclass(frozen=True)
class SetComponent:
    """Sets S with `sum_{i in S} lengths_i = size`, drawn in proportion to `prod_{i in S} weights_i`; total mass 1."""

    mass: float
    size: int
    weights: Array
    lengths: Array


@dataclass(frozen=True)
class SetDesign:
    """`P(S | x) = m(S) t_S u_S(x) / norm_x`: m the mixture of the components, u_S(x) = odds or 1 as x is in S or not.

    `t_S = sum_i tilt_i u_S(i)`, or 1 without a tilt. Without odds u_S(x) is 1 or 0: the truth is always in the set, and
    truths outside are ruled out.
    """

    components: tuple[SetComponent, ...]
    odds: float | None
    tilt: Array | None = None


@dataclass(frozen=True)
class Solution:
    """A channel and its certificate: no channel that meets the requirement has an objective below `lower_bound`.

    `value` and `lower_bound` are the mean squared error of an estimated proportion times the number of respondents,
    averaged over categories, `(tr J^-1 - |p|^2) / n`; or mutual information in bits. The channel is a `matrix` of
    reports by truths, or `sets` where the reports are too many to list.
    """

    value: float
    lower_bound: float
    matrix: Array | None = None
    sets: SetDesign | None = None

    @property
    def gap(self) -> float:
        """Relative distance of what is attained from what is proven: 0 is optimal."""
        return relative_gap(self.value, self.lower_bound)


def relative_gap(value: float, lower_bound: float) -> float:
    """`value / lower_bound - 1`; the difference where the bound is zero.

    >>> relative_gap(3.0, 2.0), relative_gap(0.25, 0.0)
    (0.5, 0.25)
    """
    return value / lower_bound - 1 if lower_bound > 0 else value - lower_bound


@dataclass(frozen=True)
class Settled(Scheme):
    """What a plan takes for one attribute of as many categories as the design has.

    >>> from sottovoce.schemes.warner import Warner
    >>> Settled.of(Warner(p=0.7), (3,)).mechanism((3,)).channel.odds
    Fraction(14, 3)
    """

    name: ClassVar[str] = "settled"
    citation: ClassVar[str] = ""

    scheme: str
    settled: Mechanism

    def __post_init__(self) -> None:
        """Go by the name, and cite the source, of the scheme."""
        if self.scheme not in schemes():
            raise SottovoceError("scheme", f"must be one of {', '.join(sorted(schemes()))}", self.scheme)
        object.__setattr__(self, "name", self.scheme)
        object.__setattr__(self, "citation", schemes()[self.scheme].citation)

    @classmethod
    def of(cls, scheme: Scheme, sizes: Sizes) -> "Settled":
        """Integers that a scheme becomes for these sizes."""
        return cls(scheme.name, scheme.mechanism(sizes))

    def mechanism(self, sizes: Sizes) -> Mechanism:
        """The one there is, for the sizes it was made for."""
        if sizes != self.settled.sizes:
            raise SottovoceError("sizes", f"must be those the design was made for, {self.settled.sizes}", sizes)
        return self.settled

    def to_json(self) -> dict[str, Any]:
        """Scheme and integers, as a plan's groups have them."""
        return {"scheme": self.scheme, "mechanism": self.settled.to_json()}

    @classmethod
    def from_json(cls, sizes: Sizes, json: Any) -> "Settled":
        """Read what `to_json` wrote."""
        if not isinstance(json, dict) or set(json) != {"scheme", "mechanism"}:
            raise SottovoceError("channel", "must have the keys scheme and mechanism", json)
        return cls(json["scheme"], mechanism_from_json(sizes, json["mechanism"]))

    @classmethod
    def cases(cls) -> Iterable[tuple["Settled", Sizes]]:
        """None of its own: it is what other schemes become."""
        return ()

    @classmethod
    def refused(cls) -> Iterable[tuple[str, dict[str, Any]]]:
        """None of its own."""
        return ()


def settled_sets(design: SetDesign, odds: Fraction | None) -> Settled:
    """Scheme `random_set` in whole numbers near a design, with its odds but at most these, or with unbounded ones.

    >>> pairs = SetDesign((SetComponent(1.0, 2, np.ones(4), np.ones(4)),), odds=3.0)
    >>> float(settled_sets(pairs, Fraction(3)).settled.channel.odds)
    3.0
    """
    parts = [
        (
            part.mass,
            part.size,
            part.weights.tolist(),
            None if (part.lengths == 1).all() else part.lengths.astype(int).tolist(),
        )
        for part in design.components
    ]
    tilt = None if design.tilt is None else design.tilt.tolist()
    kept = inf if odds is None or design.odds is None else min(odds, Fraction(design.odds))
    scheme = RandomSet.near(parts, kept, tilt)
    return Settled.of(scheme, (len(design.components[0].weights),))


def set_design(channel: Channel) -> SetDesign | None:
    """Design that a channel of drawn sets follows, to double precision; None of channels of other kinds.

    >>> design = set_design(SubsetSelection((6,), 2, Fraction(3, 5)))
    >>> design.odds, design.components[0].size
    (3.0, 2)
    """
    if isinstance(channel, SubsetSelection):
        ones = np.ones(channel.n_in)
        odds = None if channel.odds is None else float(channel.odds)
        return SetDesign((SetComponent(1.0, channel.size, ones, ones),), odds)
    if not isinstance(channel, DrawnSet):
        return None
    totals = [slab.total for slab in channel.components]
    parts = tuple(
        SetComponent(total / sum(totals), slab.size, _weights(slab), np.array(slab.lengths, float))
        for slab, total in zip(channel.components, totals, strict=True)
    )
    tilt = channel.tilt
    shares = None if tilt is None else np.array([weight / sum(tilt) for weight in tilt])
    return SetDesign(parts, None if channel.favour is None else float(channel.favour), shares)


def _weights(slab: Slab) -> Array:
    """Weights within double precision: those of length g times `c^g` draw the same sets, whatever c."""
    logs, lengths = np.array([log(weight) for weight in slab.items]), np.array(slab.lengths, float)
    return np.asarray(np.exp(logs - lengths * np.median(logs / lengths)))


def settled(found: Solution, asked: Requirement) -> Settled:
    """Scheme `matrix` where the reports are listed, `random_set` where they are drawn."""
    if found.sets is not None:
        return settled_sets(found.sets, asked.odds)
    if found.matrix is None:
        raise SottovoceError("solution", "must have a matrix or sets", found)
    return settled_matrix(told_truly(without_slivers(found.matrix), asked.law), asked.odds)


def settled_matrix(matrix: Array, odds: Fraction | None) -> Settled:
    """Scheme `matrix` of a coin with 2^64 sides, near a matrix of reports by truths, with odds at most these.

    Without odds, zeros stay zeros: what rules a truth out goes on doing so, and is not deniable. A square matrix has
    its rows in the order in which reports are most often true.

    >>> near = settled_matrix(np.array([[0.750000001, 0.25], [0.249999999, 0.75]]), Fraction(3))
    >>> 0 <= 3 - near.settled.channel.odds < 1e-8
    True
    """
    shares = matrix / matrix.sum(axis=0)
    return Settled("matrix", Listed((matrix.shape[1],), _sides(shares, odds)))


def without_slivers(matrix: Array) -> Array:
    """Add reports that hardly ever come to those most like them, if there are more reports than truths.

    The sum of two reports keeps every bound that both keep: odds, posteriors and right guesses. Alone, a report with
    entries of a few sides would be rounded coarsely.

    >>> without_slivers(np.array([[0.8, 0.2], [0.2 - 2e-9, 0.8 - 1e-9], [2e-9, 1e-9]])).round(8)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    thin = matrix.max(axis=1) < SLIVER
    if len(matrix) <= matrix.shape[1] or not thin.any():
        return matrix
    kept, slivers = matrix[~thin].copy(), matrix[thin & matrix.any(axis=1)]
    likeness = _directions(slivers) @ _directions(kept).T
    for sliver, place in zip(slivers, likeness.argmax(axis=1), strict=True):
        kept[place] += sliver
    return np.asarray(kept)


def told_truly(matrix: Array, prior: Array) -> Array:
    """Rows of a square matrix in the order that makes reports the truth most often; others as they are.

    >>> told_truly(np.array([[0.2, 0.7], [0.8, 0.3]]), np.array([0.5, 0.5]))
    array([[0.8, 0.3],
           [0.2, 0.7]])
    """
    if matrix.shape[0] != matrix.shape[1]:
        return matrix
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise MissingExtraError("design", "scipy", "design") from None
    rows, truths = linear_sum_assignment(matrix * prior, maximize=True)
    return np.asarray(matrix[rows[np.argsort(truths)]])


def _sides(matrix: Array, odds: Fraction | None) -> Rows:
    if odds is None:
        return in_lowest_terms(_dealt_out(_floored(matrix)))
    for margin in MARGINS:
        kept = odds * (1 - margin)
        rows = [_capped(row, kept) for row in _floored(_drawn_together(matrix, float(kept)))]
        sides = _dealt_out(rows)
        achieved = matrix_odds(sides)
        if achieved is not None and achieved <= odds:
            return in_lowest_terms(sides)
    raise SottovoceError("odds", "must be within reach of coins of 2^64 sides for this design", odds)


def _directions(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _drawn_together(matrix: Array, odds: float) -> Array:
    """`(1 - t) A + t m 1^T`, m the means of the rows, with the least t that keeps the odds in every row."""
    high, low, mean = matrix.max(axis=1), matrix.min(axis=1), matrix.mean(axis=1)
    excess = np.maximum(high - odds * low, 0)
    pull = np.divide(excess, excess + (odds - 1) * mean, out=np.zeros_like(mean), where=excess > 0).max()
    return np.asarray((1 - pull) * matrix + pull * mean[:, None])


def _floored(matrix: Array) -> Rows:
    """Sides of a coin, at least one for what is possible."""
    return [[max(int(share * MOST_SIDES), int(share > 0)) for share in row] for row in matrix.tolist()]


def _capped(row: list[int], odds: Fraction) -> list[int]:
    """Lower what exceeds the odds in a row whose entries are so small that whole sides are coarse."""
    most = floor(odds * min(row))
    return [min(sides, most) for sides in row]


def _dealt_out(rows: Rows) -> Rows:
    """Give the sides that a column lacks, or has too many, to its largest entry."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        column[column.index(max(column))] += MOST_SIDES - sum(column)
    return [list(row) for row in zip(*columns, strict=True)]
