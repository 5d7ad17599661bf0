"""A set of categories drawn from a mixture of weighted designs, with too many sets to list."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channel.channel import Array, checked_axes, checked_shape, checked_vector
from sottovoce.channel.conditional_poisson import SIDES, ConditionalPoisson
from sottovoce.channel.set_draw import SetDraw
from sottovoce.channel.written_out import LARGEST_CONDITION, WrittenOut
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.exact import fraction

LARGEST_EXHAUSTED = 10
"""Categories up to which the odds are found by trying all sets."""

LARGEST_LISTED = 12
"""Categories up to which the matrix is written out."""


@dataclass(frozen=True)
class RandomSet(WrittenOut):
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
        if not self.components:
            raise SottovoceError("components", "must be at least one", self.components)
        for component in self.components:
            if len(component.items) != self.n_in:
                raise SottovoceError("items", f"must be weights of all {self.n_in} categories", component.items)
        if self.favour < 1:
            raise SottovoceError("favour", "must be at least 1", favour)

    @property
    def shape_out(self) -> tuple[int, ...]:
        """One bit for each category."""
        return (2,) * self.n_in

    @cached_property
    def draw(self) -> SetDraw:
        """Coins that draw the set."""
        return SetDraw(self.components, self.favour)

    @cached_property
    def odds(self) -> Fraction:
        """Largest ratio over all sets, or from more than ten categories on a bound that is hardly larger."""
        return self.draw.largest_odds() if self.n_in <= LARGEST_EXHAUSTED else self.draw.odds_bound()

    def entry(self, report: int, truth: int) -> Fraction:
        """Ways the coins can fall, over all there are."""
        members = {j for j in range(self.n_in) if report >> (self.n_in - 1 - j) & 1}
        return Fraction(self.draw.ways(members, truth), SIDES**self.n_in)

    def matvec(self, truths: Any) -> Array:
        """Law of the reported sets, for few enough categories to list them."""
        return np.asarray(np.tensordot(self._matrix, checked_vector("truths", self.n_in, truths), axes=1))

    def rmatvec(self, reports: Any) -> Array:
        """Mean of a function of the set, for each truth."""
        return np.asarray(np.tensordot(self._matrix.T, checked_vector("reports", self.n_out, reports), axes=1))

    def dense(self) -> Array:
        """Matrix of all sets by all truths."""
        if self.n_in > LARGEST_LISTED:
            rule = f"must have at most {LARGEST_LISTED} categories to list all sets; estimate from inclusions instead"
            raise SottovoceError("channel", rule, self.n_in)
        return np.array([[float(self.entry(y, x)) for x in range(self.n_in)] for y in range(self.n_out)])

    def share_matrix(self) -> Array:
        """`M[j, x] = P(j in S | x)`, for any n, to double precision.

        >>> RandomSet((3,), [ConditionalPoisson(1, 1, [1, 1, 1])], 2).share_matrix()
        array([[0.5 , 0.25, 0.25],
               [0.25, 0.5 , 0.25],
               [0.25, 0.25, 0.5 ]])
        """
        return np.array([list(self.draw.shares(truth)) for truth in range(self.n_in)]).T

    def solve_inclusions(self, inclusions: Any, total: Any = 1.0) -> Array:
        """Truths from shares or counts of the reports that hold each category: unbiased, sum `total`, any n.

        `p = total / n + q`, with q of sum zero and `M q` nearest to the difference between the shares and those of
        uniform truths. Where all sets have one size this is `M^-1` times the shares.
        """
        shares = checked_vector("inclusions", self.n_in, inclusions)
        whole, (expected, inverse) = np.asarray(total, np.float64), self._from_shares
        excess = shares - np.multiply.outer(expected, whole)
        return np.asarray(whole / self.n_in + np.tensordot(inverse, excess, axes=1))

    def marginal(self, axes: Sequence[int]) -> "RandomSet":
        """Whole truth only: a set of joint cells does not split."""
        kept = checked_axes(axes, len(self.shape_in))
        if len(kept) < len(self.shape_in):
            raise SottovoceError("axes", "must keep all attributes, for the report does not split", kept)
        return self

    @classmethod
    def cases(cls) -> Iterator["RandomSet"]:
        """Alike, two sizes and skewed, a rare component, joint truths, saying nothing."""
        yield cls((4,), [ConditionalPoisson(1, 2, [1] * 4)], 3)
        yield cls((5,), [ConditionalPoisson(7, 1, [5, 1, 1, 2, 9]), ConditionalPoisson(2, 3, [1, 4, 2, 2, 1])], 2)
        yield cls((3,), [ConditionalPoisson(1, 1, [1, 1, 1]), ConditionalPoisson(2**70, 2, [1, 2, 3])], "9/2")
        yield cls((2, 3), [ConditionalPoisson(1, 2, [1, 1, 2, 3, 3, 1000])], "7/5")
        yield cls((3,), [ConditionalPoisson(1, 1, [1, 2, 3])], 1)

    @cached_property
    def _from_shares(self) -> tuple[Array, Array]:
        """Shares under uniform truths, and what undoes differences from them."""
        shares = self.share_matrix()
        expected = shares.mean(axis=1)
        left, values, right = np.linalg.svd(shares - expected[:, None])
        if values[-2] * LARGEST_CONDITION < 1:
            rule = "must hold every category more often if it is the truth, for truths to be estimated; favour is"
            raise SingularChannelError("sets", rule, float(self.favour))
        # The least singular value is that of the vector of ones, which `total` takes care of.
        return expected, np.asarray(right[:-1].T / values[:-1] @ left[:, :-1].T)
