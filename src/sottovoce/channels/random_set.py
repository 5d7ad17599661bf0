"""Randomly drawn sets of categories, from mixtures of weighted designs over more sets than can be listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import LARGEST_CONDITION, MatrixChannel, checked_shape, checked_vector
from sottovoce.channels.set_rank import SIDES, SetRank
from sottovoce.channels.set_valued import LARGEST_LISTED, SetChannel
from sottovoce.channels.slabs import Slab, largest_item_weight, second_moments
from sottovoce.checks import Array, whole_number
from sottovoce.errors import SingularChannelError, SottovoceError, Words
from sottovoce.exact import fraction


@dataclass(frozen=True)
class RandomSet(MatrixChannel, SetChannel):
    """`A[S, x]` within one part in 2^64 of `m(S) t_S u_S(x) / norm_x`, where m is the sum of the components.

    The report S is a set of categories or joint cells, coded as n bits. `u_S(x)` is g = `favour` if x is in S and 1 if
    not; if `favour` is None it is 1 and 0: the truth is always in the set, which is not deniable. `t_S` is
    `sum_i h_i u_S(i)` with the integers h of `tilt`, or 1 without a tilt. `norm_x` makes the columns sum to one; if it
    is the same for all truths, the odds are g up to rounding. The entries are exactly those of the mechanism that draws
    the sets (`SetRank`). For more than ten categories `odds` is a bound, proven in `SetRank`.

    >>> pairs = RandomSet((6,), [Slab(1, 2, [1] * 6)], 3)
    >>> 0 < pairs.odds - 3 < 1e-17
    True
    >>> RandomSet((3,), [Slab(1, 2, [1, 2, 3], lengths=[1, 1, 2])], None).odds is None
    True
    """

    has_scores = True

    shape_in: tuple[int, ...]
    components: tuple[Slab, ...]
    favour: Fraction | None
    tilt: tuple[int, ...] | None

    def __init__(
        self, shape_in: Iterable[int], components: Iterable[Slab], favour: Any, tilt: Iterable[int] | None = None
    ) -> None:
        """Check that all weights are for the same categories, and that every truth has a possible set."""
        object.__setattr__(self, "shape_in", checked_shape(shape_in))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", None if favour is None else fraction("favour", favour))
        object.__setattr__(self, "tilt", None if tilt is None else tuple(tilt))
        self._check_components()
        self._check_tilt()
        if self.favour is not None and self.favour < 1:
            raise SottovoceError("favour", "must be at least 1", favour)
        if not min(self.rank.norms):
            rule = "must have a set with every category, if the truth is always in the set; there is none with category"
            raise SottovoceError("components", rule, self.rank.norms.index(0))

    def _check_components(self) -> None:
        if not self.components:
            raise SottovoceError("components", "must be at least one", self.components)
        for component in self.components:
            if len(component.items) != self.n_in:
                raise SottovoceError("items", f"must be weights of all {self.n_in} categories", component.items)

    def _check_tilt(self) -> None:
        if self.tilt is None:
            return
        if len(self.tilt) != self.n_in:
            raise SottovoceError("tilt", f"must be weights of all {self.n_in} categories", self.tilt)
        for weight in self.tilt:
            whole_number("tilt", weight, most=largest_item_weight())

    @cached_property
    def rank(self) -> SetRank:
        """Numbering of the sets, from which they are drawn."""
        inside, outside = (1, 0) if self.favour is None else self.favour.as_integer_ratio()
        return SetRank(self.components, inside, outside, self.tilt)

    @property
    def odds(self) -> Fraction | None:
        """Largest ratio over all sets; for more than ten categories, a bound that is hardly larger."""
        return None if self.favour is None else self.rank.odds

    def probability(self, members: set[int], truth: int) -> Fraction:
        """Probability of one set: the share of the coins' outcomes that draw it."""
        return Fraction(self.rank.ways(members, truth), SIDES**self.rank.coins)

    def entry(self, report: int, truth: int) -> Fraction:
        """Probability of the set whose members are the one bits of the report."""
        return self.probability({j for j in range(self.n_in) if report >> (self.n_in - 1 - j) & 1}, truth)

    def matvec(self, truths: Any) -> Array:
        """Distribution of the reported sets, for few enough categories to list them."""
        return np.asarray(np.tensordot(self._matrix, checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Expected value of a function of the set, for each truth."""
        return np.asarray(np.tensordot(self._matrix.T, checked_vector("reports", self.n_out, reports), axes=1))

    def dense(self) -> Array:
        """Matrix of all sets by all truths."""
        if self.n_in > LARGEST_LISTED:
            rule = f"must have at most {LARGEST_LISTED} categories to list all sets; use solve_inclusions instead"
            raise SottovoceError("channel", rule, self.n_in)
        return np.array([[float(self.entry(y, x)) for x in range(self.n_in)] for y in range(self.n_out)])

    @cached_property
    def reference(self) -> tuple[int, ...] | None:
        """Weights h of the scores `u_S / (h.u_S)`: the tilt, else the lengths if all components share them."""
        lengths = {c.lengths for c in self.components}
        return self.tilt or (lengths.pop() if len(lengths) == 1 else None)

    def scores(self, bits: Array) -> Array:
        """Scores of reports, given as columns of n bits: `u_S(j) / sum_i h_i u_S(i)` for each category j.

        h is the `reference`, normalised; without one the score is `u_S(j)`. At truths p for which h is p / norm the
        scores are `P(S | j) / P(S)` times `norm_j`: the efficient scores, whose inversion is unbiased for any truths
        and has the least variance for these.
        """
        likelihood = bits if self.favour is None else 1 + (float(self.favour) - 1) * bits
        if self.reference is None:
            return np.asarray(likelihood)
        weights = np.array(self.reference, np.float64)
        means = weights / weights.sum() @ likelihood
        if not means.all():
            raise SottovoceError("reports", "must be sets with a category in them, as the truth always is", 0)
        return np.asarray(likelihood / means)

    def solve_inclusions(self, inclusions: Any, total: Any = 1.0) -> Array:
        """Distribution of the truths from means or sums of the reports' scores: unbiased, with sum `total`, any n.

        `p = total / n + q`, with q of sum zero and `M q` nearest to the difference between the scores and those of
        uniform truths, M the `score_matrix`. If all reports' scores have the same weighted sum, p is `M^-1` times the
        scores.
        """
        scores = checked_vector("inclusions", self.n_in, inclusions)
        whole, (uniform_scores, inverse) = np.asarray(total, np.float64), self._score_inverse
        excess = scores - np.multiply.outer(uniform_scores, whole)
        return np.asarray(whole / self.n_in + np.tensordot(inverse, excess, axes=1))

    @cached_property
    def _score_inverse(self) -> tuple[Array, Array]:
        """Mean scores under uniform truths, and the inverse that maps differences from them to truths."""
        matrix = self.score_matrix()
        uniform_scores = matrix.mean(axis=1)
        left, values, right = np.linalg.svd(matrix - uniform_scores[:, None])
        if values[-2] * LARGEST_CONDITION < np.abs(matrix).max():
            rule = "must hold every category more often if it is the truth, for truths to be estimated"
            raise SingularChannelError("sets", rule, Words(f"a singular value of {values[-2]:.3g}"))
        # The least singular value belongs to the vector of ones, whose part of the estimate is fixed by `total`.
        return uniform_scores, np.asarray(right[:-1].T / values[:-1] @ left[:, :-1].T)

    def score_matrix(self) -> Array:
        """`M[j, x]`: mean score of category j if the truth is x, to double precision, for any n.

        The tilt and the weighted sum of a score cancel, so these are second moments of the untilted mixture; without a
        tilt, the sum `(h.u_S)` depends on the length of the set alone.

        >>> RandomSet((3,), [Slab(1, 1, [1, 1, 1])], 2).score_matrix()
        array([[1.125 , 0.9375, 0.9375],
               [0.9375, 1.125 , 0.9375],
               [0.9375, 0.9375, 1.125 ]])
        """
        rank = self.rank
        factors = [float(self._factor(c)) for c in self.components]
        parts = (second_moments(c, rank.inside, rank.outside, rank.norms) for c in self.components)
        return np.asarray(sum(factor * part for factor, part in zip(factors, parts, strict=True)))

    def _factor(self, component: Slab) -> Fraction:
        """Value of `t_S / (h.u_S)`, constant over a component, with u_S in the integers of the rank."""
        if self.tilt:
            return Fraction(sum(self.tilt))
        if self.reference is None:
            return Fraction(1, self.rank.outside or 1)
        whole, size = sum(component.lengths), component.size
        return Fraction(whole, self.rank.outside * (whole - size) + self.rank.inside * size)

    @classmethod
    def cases(cls) -> Iterator["RandomSet"]:
        """Equal weights, tilt, lengths, a rare component, joint truths, truth always included, uninformative."""
        yield cls((4,), [Slab(1, 2, [1] * 4)], 3)
        yield cls((4,), [Slab(3, 2, [1, 2, 1, 3])], "5/2", [4, 3, 2, 1])
        yield cls((5,), [Slab(1, 4, [5, 1, 1, 2, 9], [3, 2, 1, 1, 2])], 2)
        yield cls((3,), [Slab(1, 1, [1, 1, 1]), Slab(2**70, 3, [1, 2, 3], [2, 1, 1])], "9/2", [1, 1, 2**64])
        yield cls((2, 3), [Slab(1, 2, [1, 1, 2, 3, 3, 2**64]), Slab(1, 3, [1] * 6)], "7/5")
        yield cls((4,), [Slab(1, 2, [1, 2, 3, 4]), Slab(9, 1, [1] * 4)], None)
        yield cls((4,), [Slab(1, 3, [1, 2, 3, 4], [1, 1, 2, 2])], None, [1, 2, 1, 5])
        yield cls((3,), [Slab(1, 1, [1, 2, 3])], 1)
