"""A set of categories drawn by its rank: slabs of any lengths, tilted, and with odds that may be unbounded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.channels.channel import Array, checked_shape
from sottovoce.channels.set_rank import SIDES, SetRank
from sottovoce.channels.set_valued import DrawnSets
from sottovoce.channels.slabs import Slab, check_whole, largest_item_weight, second_moments
from sottovoce.errors import SottovoceError
from sottovoce.exact import fraction


@dataclass(frozen=True)
class RandomSet(DrawnSets):
    """`A[S, x]` within one part in 2^64 of `m(S) t_S u_S(x) / norm_x`, m the sum of the components.

    `u_S(x)` is g = `favour` if x is in S and 1 if not; with a favour of None it is 1 and 0: the truth is always in the
    set, which is not deniable. `t_S = sum_i h_i u_S(i)` with the whole numbers h of `tilt`, or 1 without. Entries are
    those of the draw, exactly (`SetRank`). A good design makes `norm_x` the same for all truths; the odds are then
    g, but for rounding. For more than ten categories they are a bound, proven in `SetRank`.

    >>> pairs = RandomSet((6,), [Slab(1, 2, [1] * 6)], 3)
    >>> 0 < pairs.odds - 3 < 1e-17
    True
    >>> RandomSet((3,), [Slab(1, 2, [1, 2, 3], lengths=[1, 1, 2])], None).odds is None
    True
    """

    shape_in: tuple[int, ...]
    components: tuple[Slab, ...]
    favour: Fraction | None
    tilt: tuple[int, ...] | None

    def __init__(
        self, shape_in: Iterable[int], components: Iterable[Slab], favour: Any, tilt: Iterable[int] | None = None
    ) -> None:
        """Check that everything is about the same categories, and that every truth has a set."""
        object.__setattr__(self, "shape_in", checked_shape(shape_in))
        object.__setattr__(self, "components", tuple(components))
        object.__setattr__(self, "favour", None if favour is None else fraction("favour", favour))
        object.__setattr__(self, "tilt", None if tilt is None else tuple(tilt))
        self._check_components()
        self._check_tilt()
        if self.favour is not None and self.favour < 1:
            raise SottovoceError("favour", "must be at least 1", favour)
        if not min(self.rank.norms):
            rule = "must have a set with every category, where the truth is always in the set; there is none with"
            raise SottovoceError("components", rule, self.rank.norms.index(0))

    def _check_tilt(self) -> None:
        if self.tilt is None:
            return
        if len(self.tilt) != self.n_in:
            raise SottovoceError("tilt", f"must be weights of all {self.n_in} categories", self.tilt)
        for weight in self.tilt:
            check_whole("tilt", weight, largest_item_weight(), "must be whole numbers from 1 to 2^256")

    @cached_property
    def rank(self) -> SetRank:
        """Order of the sets."""
        inside, outside = (1, 0) if self.favour is None else self.favour.as_integer_ratio()
        return SetRank(self.components, inside, outside, self.tilt)

    @property
    def odds(self) -> Fraction | None:
        """Largest ratio over all sets, or from more than ten categories on a bound that is hardly larger."""
        return None if self.favour is None else self.rank.odds

    def probability(self, members: set[int], truth: int) -> Fraction:
        """Ways the coins can fall, over all there are."""
        return Fraction(self.rank.ways(members, truth), SIDES**self.rank.coins)

    @cached_property
    def reference(self) -> tuple[int, ...] | None:
        """Weights h that make the scores `u_S / (h.u_S)`: the tilt, else the lengths that all components share."""
        lengths = {c.lengths for c in self.components}
        return self.tilt or (lengths.pop() if len(lengths) == 1 else None)

    def scores(self, bits: Array) -> Array:
        """`u_S(j) / sum_i h_i u_S(i)` for each category j, h the `reference` over its sum; without one, `u_S(j)`.

        At truths for which h is p / norm these are `P(S | j) / P(S)` times `norm_j`: the efficient scores of the
        categories, whose inverse is unbiased for any truths and has the least variance for these.
        """
        likelihood = bits if self.favour is None else 1 + (float(self.favour) - 1) * bits
        if self.reference is None:
            return np.asarray(likelihood)
        weights = np.array(self.reference, np.float64)
        means = weights / weights.sum() @ likelihood
        if not means.all():
            raise SottovoceError("reports", "must be sets with a category in them, as the truth always is", 0)
        return np.asarray(likelihood / means)

    def score_matrix(self) -> Array:
        """`M[j, x]`: mean of the scores, for any n, to double precision.

        The tilt and the weighted sum of a score cancel, so that these are second moments of the untilted mixture;
        without a tilt, the sum `(h.u_S)` depends on the length of the set alone.

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
        """What `t_S / (h.u_S)` is throughout a component, u_S counted in the whole numbers of the rank."""
        if self.tilt:
            return Fraction(sum(self.tilt))
        if self.reference is None:
            return Fraction(1, self.rank.outside or 1)
        whole, size = sum(component.lengths), component.size
        return Fraction(whole, self.rank.outside * (whole - size) + self.rank.inside * size)

    @classmethod
    def cases(cls) -> Iterator["RandomSet"]:
        """Alike, tilted, lengths, both in a mixture with a rare component, joint truths, always in, saying nothing."""
        yield cls((4,), [Slab(1, 2, [1] * 4)], 3)
        yield cls((4,), [Slab(3, 2, [1, 2, 1, 3])], "5/2", [4, 3, 2, 1])
        yield cls((5,), [Slab(1, 4, [5, 1, 1, 2, 9], [3, 2, 1, 1, 2])], 2)
        yield cls((3,), [Slab(1, 1, [1, 1, 1]), Slab(2**70, 3, [1, 2, 3], [2, 1, 1])], "9/2", [1, 1, 2**64])
        yield cls((2, 3), [Slab(1, 2, [1, 1, 2, 3, 3, 2**64]), Slab(1, 3, [1] * 6)], "7/5")
        yield cls((4,), [Slab(1, 2, [1, 2, 3, 4]), Slab(9, 1, [1] * 4)], None)
        yield cls((4,), [Slab(1, 3, [1, 2, 3, 4], [1, 1, 2, 2])], None, [1, 2, 1, 5])
        yield cls((3,), [Slab(1, 1, [1, 2, 3])], 1)
