"""Report the record, or its complement with every yes and no exchanged: the related question."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sottovoce.channels.channel import Channel, checked_axes, checked_shape, checked_vector, ratio
from sottovoce.checks import Array
from sottovoce.errors import SingularChannelError, SottovoceError
from sottovoce.exact import probability


@dataclass(frozen=True)
class Complement(Channel):
    """`A[x, x] = keep`, `A[complement of x, x] = 1 - keep`, over the joint cells of yes/no attributes.

    With two or more attributes a report leaves only two records possible: the odds are unbounded.

    >>> Complement((2,), Fraction(3, 4)).odds, Complement((2, 2), Fraction(3, 4)).odds
    (Fraction(3, 1), None)
    """

    shape_in: tuple[int, ...]
    keep: Fraction

    def __init__(self, shape_in: Iterable[int], keep: Any) -> None:
        """Check that all attributes are yes/no and that `keep` is a probability."""
        object.__setattr__(self, "shape_in", checked_shape(shape_in))
        object.__setattr__(self, "keep", probability("keep", keep))
        if any(size != 2 for size in self.shape_in):
            raise SottovoceError("shape_in", "must be that of yes/no attributes", self.shape_in)

    @property
    def odds(self) -> Fraction | None:
        """Those of Warner's design for one attribute, unbounded for more."""
        low, high = sorted((self.keep, 1 - self.keep))
        return None if low == 0 or len(self.shape_in) > 1 else high / low

    def worst_case(self) -> tuple[int, int, int]:
        """Report of all noes, against a truth that is neither it nor its complement if there is one."""
        same, complement = 0, self.n_in - 1
        likelier = same if 2 * self.keep >= 1 else complement
        return 0, likelier, 1 if self.n_in > 2 else 1 - likelier

    def entry(self, report: int, truth: int) -> Fraction:
        """`keep` for the truth, `1 - keep` for its complement, zero otherwise."""
        if report == truth:
            return self.keep
        return 1 - self.keep if report == self.n_in - 1 - truth else Fraction(0)

    def matvec(self, truths: Any) -> Array:
        """Mix with the reversed vector: the complement of cell x is cell n - 1 - x."""
        return self._mix(checked_vector("truths", self.n_in, truths), 1)

    def rmatvec(self, reports: Any) -> Array:
        """The same operator: the matrix is symmetric."""
        return self._mix(checked_vector("reports", self.n_out, reports), 1)

    def solve(self, reports: Any) -> Array:
        """`(keep r - (1 - keep) reversed r) / (2 keep - 1)`."""
        vector = checked_vector("reports", self.n_out, reports)
        if 2 * self.keep == 1:
            raise SingularChannelError("keep", "must not be 1/2 for truths to be estimated from reports", 0.5)
        return self._mix(vector, -1) / float(2 * self.keep - 1)

    def marginal(self, axes: Sequence[int]) -> "Complement":
        """Same `keep`, over fewer attributes."""
        kept = checked_axes(axes, len(self.shape_in))
        return Complement((2,) * len(kept), self.keep)

    @property
    def condition_number(self) -> float:
        """The eigenvalues are 1 and 2 keep - 1."""
        return ratio(1.0, abs(float(2 * self.keep - 1)))

    @classmethod
    def cases(cls) -> Iterator["Complement"]:
        """One attribute and several, uninformative, noiseless."""
        yield cls((2,), Fraction(3, 4))
        yield cls((2, 2, 2), Fraction(1, 3))
        yield cls((2, 2), Fraction(1, 2))
        yield cls((2,), 1)

    def _mix(self, vector: Array, sign: int) -> Array:
        return np.asarray(float(self.keep) * vector + sign * float(1 - self.keep) * vector[::-1])
