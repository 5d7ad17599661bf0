"""Solutions of optimisers in floating point, and the exact schemes they are rounded to, towards privacy."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, log
from typing import Any, ClassVar

import numpy as np

from sottovoce.channels.channel import Channel
from sottovoce.channels.random_set import RandomSet as DrawnSet
from sottovoce.channels.slabs import Slab
from sottovoce.channels.subset_selection import SubsetSelection
from sottovoce.checks import Array
from sottovoce.designs.requirement import Requirement
from sottovoce.errors import SottovoceError, Words, check_installed
from sottovoce.mechanisms.coins import MOST_SIDES
from sottovoce.mechanisms.matrix import Listed
from sottovoce.mechanisms.mechanism import Mechanism, mechanism_from_json
from sottovoce.mechanisms.rounding import Rows, in_lowest_terms, matrix_odds
from sottovoce.schemes.random_set import RandomSet
from sottovoce.schemes.scheme import Scheme, Sizes, all_schemes

MARGINS = (Fraction(0), *(Fraction(1, 10**digits) for digits in (15, 13, 11, 9)))
"""Relative margins below the requested odds, tried in turn until integers keep the odds."""

RARE_REPORT = 1e-8
"""A report whose probability is below this, whatever the truth, is merged with another."""


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

    `t_S = sum_i tilt_i u_S(i)`, or 1 without a tilt. Without odds u_S(x) is 1 or 0: the set always contains the truth,
    and rules out the categories outside.
    """

    components: tuple[SetComponent, ...]
    odds: float | None
    tilt: Array | None = None


@dataclass(frozen=True)
class Solution:
    """A channel in floating point, with a proven lower bound on the objective of every channel within the requirement.

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
        """Relative gap between value and lower bound; 0 means optimal."""
        return relative_gap(self.value, self.lower_bound)


def relative_gap(value: float, lower_bound: float) -> float:
    """Return `value / lower_bound - 1`, or the difference if the bound is zero.

    >>> relative_gap(3.0, 2.0), relative_gap(0.25, 0.0)
    (0.5, 0.25)
    """
    return value / lower_bound - 1 if lower_bound > 0 else value - lower_bound


@dataclass(frozen=True)
class ExactScheme(Scheme):
    """A scheme whose integers are fixed, for attributes of given sizes: what a design puts into a plan.

    `scheme` is the name of the scheme of the literature that the integers come from.

    >>> from sottovoce.schemes.warner import Warner
    >>> ExactScheme.of(Warner(p=0.7), (3,)).channel.odds
    Fraction(14, 3)
    """

    name: ClassVar[str] = "exact"
    citation: ClassVar[str] = ""

    scheme: str
    exact_mechanism: Mechanism

    def __post_init__(self) -> None:
        """Take name and citation from the scheme."""
        if self.scheme not in all_schemes():
            raise SottovoceError("scheme", f"must be one of {', '.join(sorted(all_schemes()))}", self.scheme)
        object.__setattr__(self, "name", self.scheme)
        object.__setattr__(self, "citation", all_schemes()[self.scheme].citation)

    @classmethod
    def of(cls, scheme: Scheme, sizes: Sizes) -> "ExactScheme":
        """Fix the integers of a scheme for these sizes."""
        return cls(scheme.name, scheme.mechanism(sizes))

    @property
    def channel(self) -> Channel:
        """Channel of the exact integers."""
        return self.exact_mechanism.channel

    def mechanism(self, sizes: Sizes) -> Mechanism:
        """Return the mechanism; the sizes must be those it was made for."""
        if sizes != self.exact_mechanism.sizes:
            rule = f"must be those the design was made for, {self.exact_mechanism.sizes}"
            raise SottovoceError("sizes", rule, sizes)
        return self.exact_mechanism

    def to_json(self) -> dict[str, Any]:
        """Scheme and mechanism, as in the groups of a plan document."""
        return {"scheme": self.scheme, "mechanism": self.exact_mechanism.to_json()}

    @classmethod
    def from_json(cls, sizes: Sizes, json: Any) -> "ExactScheme":
        """Read what `to_json` wrote."""
        if not isinstance(json, dict) or set(json) != {"scheme", "mechanism"}:
            raise SottovoceError("channel", "must have the keys scheme and mechanism", json)
        return cls(json["scheme"], mechanism_from_json(sizes, json["mechanism"]))

    @classmethod
    def cases(cls) -> Iterable[tuple["ExactScheme", Sizes]]:
        """No examples: the cases of other schemes cover it."""
        return ()

    @classmethod
    def refused(cls) -> Iterable[tuple[str, dict[str, Any]]]:
        """No bad arguments beyond those of other schemes."""
        return ()


def round_sets(design: SetDesign, odds: Fraction | None) -> ExactScheme:
    """Round a set design to the scheme `random_set`, with the design's odds but at most these; None is unbounded.

    >>> pairs = SetDesign((SetComponent(1.0, 2, np.ones(4), np.ones(4)),), odds=3.0)
    >>> float(round_sets(pairs, Fraction(3)).channel.odds)
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
    bound = inf if design.odds is None else min(inf if odds is None else odds, Fraction(design.odds))
    try:
        scheme = RandomSet.near(parts, bound, tilt)
    except SottovoceError as reason:
        rule = "must be less uneven for sets to be drawn with exact integers; merge rare categories, or select subsets"
        raise SottovoceError("prior", rule, Words(f"{reason.parameter} that {reason.rule}")) from None
    return ExactScheme.of(scheme, (len(design.components[0].weights),))


def set_design(channel: Channel) -> SetDesign | None:
    """Return the set design of a set-valued channel in double precision, or None for channels of other kinds.

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
    """Weights scaled to fit double precision: factors `c^g` for lengths g leave the distribution unchanged."""
    logs, lengths = np.array([log(weight) for weight in slab.items]), np.array(slab.lengths, float)
    return np.asarray(np.exp(logs - lengths * np.median(logs / lengths)))


def round_solution(solution: Solution, requirement: Requirement) -> ExactScheme:
    """Round a solution to an exact scheme: `matrix` if its reports are listed, `random_set` if it draws sets."""
    if solution.sets is not None:
        return round_sets(solution.sets, requirement.odds)
    if solution.matrix is None:
        raise SottovoceError("solution", "must have a matrix or sets", solution)
    matrix = match_rows_to_truths(merge_rare_reports(solution.matrix), requirement.prior_array)
    return round_matrix(matrix, requirement.odds)


def round_matrix(matrix: Array, odds: Fraction | None) -> ExactScheme:
    """Round a matrix of reports by truths to the scheme `matrix`, in multiples of 2^-64, with odds at most these.

    Without odds, zeros stay zeros: a report that rules a truth out still does, and is not deniable.

    >>> near = round_matrix(np.array([[0.750000001, 0.25], [0.249999999, 0.75]]), Fraction(3))
    >>> 0 <= 3 - near.channel.odds < 1e-8
    True
    """
    shares = matrix / matrix.sum(axis=0)
    return ExactScheme("matrix", Listed((matrix.shape[1],), _integer_matrix(shares, odds)))


def merge_rare_reports(matrix: Array) -> Array:
    """Merge reports of negligible probability with the most similar ones, if there are more reports than truths.

    The sum of two reports keeps every bound that both keep: odds, posteriors and the adversary's accuracy. Alone, a
    report with entries of a few multiples of 2^-64 would be rounded coarsely.

    >>> merge_rare_reports(np.array([[0.8, 0.2], [0.2 - 2e-9, 0.8 - 1e-9], [2e-9, 1e-9]])).round(8)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    is_rare = matrix.max(axis=1) < RARE_REPORT
    if len(matrix) <= matrix.shape[1] or not is_rare.any():
        return matrix
    kept, rare = matrix[~is_rare].copy(), matrix[is_rare & matrix.any(axis=1)]
    similarity = _unit_rows(rare) @ _unit_rows(kept).T
    for row, nearest in zip(rare, similarity.argmax(axis=1), strict=True):
        kept[nearest] += row
    return np.asarray(kept)


def match_rows_to_truths(matrix: Array, prior: Array) -> Array:
    """Permute rows of a square matrix so that reports equal the truth as often as possible; return others unchanged.

    >>> match_rows_to_truths(np.array([[0.2, 0.7], [0.8, 0.3]]), np.array([0.5, 0.5]))
    array([[0.8, 0.3],
           [0.2, 0.7]])
    """
    if matrix.shape[0] != matrix.shape[1]:
        return matrix
    check_installed("design", "design", "scipy.optimize")
    from scipy.optimize import linear_sum_assignment

    rows, truths = linear_sum_assignment(matrix * prior, maximize=True)
    return np.asarray(matrix[rows[np.argsort(truths)]])


def _integer_matrix(matrix: Array, odds: Fraction | None) -> Rows:
    """Round to numerators over 2^64 whose columns sum to it and whose odds are at most these."""
    if odds is None:
        return in_lowest_terms(_with_full_columns(_rounded_down(matrix)))
    for margin in MARGINS:
        bound = odds * (1 - margin)
        rows = [_capped(row, bound) for row in _rounded_down(_shrunk_to_odds(matrix, float(bound)))]
        integers = _with_full_columns(rows)
        achieved = matrix_odds(integers)
        if achieved is not None and achieved <= odds:
            return in_lowest_terms(integers)
    raise SottovoceError("odds", "must be attainable with probabilities in multiples of 2^-64 for this design", odds)


def _unit_rows(rows: Array) -> Array:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _shrunk_to_odds(matrix: Array, odds: float) -> Array:
    """Return `(1 - t) A + t m 1^T`, m the row means, with the smallest t that keeps the odds in every row."""
    high, low, mean = matrix.max(axis=1), matrix.min(axis=1), matrix.mean(axis=1)
    excess = np.maximum(high - odds * low, 0)
    mixing = np.divide(excess, excess + (odds - 1) * mean, out=np.zeros_like(mean), where=excess > 0).max()
    return np.asarray((1 - mixing) * matrix + mixing * mean[:, None])


def _rounded_down(matrix: Array) -> Rows:
    """Numerators over 2^64, rounded down, but at least 1 for a positive probability."""
    return [[max(int(entry * MOST_SIDES), int(entry > 0)) for entry in row] for row in matrix.tolist()]


def _capped(row: list[int], odds: Fraction) -> list[int]:
    """Lower the entries of a row that exceed the odds because rounding is coarse for small entries."""
    most = floor(odds * min(row))
    return [min(entry, most) for entry in row]


def _with_full_columns(rows: Rows) -> Rows:
    """Add what a column lacks of 2^64, or take its excess, at its largest entry."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        column[column.index(max(column))] += MOST_SIDES - sum(column)
    return [list(row) for row in zip(*columns, strict=True)]
