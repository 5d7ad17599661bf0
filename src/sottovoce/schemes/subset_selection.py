"""Subset selection: report a set of w categories that contains the truth more often than by chance."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.channels.subset_selection import SubsetSelection as Channel
from sottovoce.checks import whole_number
from sottovoce.errors import SottovoceError
from sottovoce.exact import Number, OddsLike, odds_asked
from sottovoce.mechanisms.subset_selection import Subset
from sottovoce.schemas.attribute import check_domain
from sottovoce.schemes.scheme import Scheme, Sizes, set_fields


@dataclass(frozen=True)
class SubsetSelection(Scheme):
    """The truth is in the set with probability `w e^eps / (w e^eps + n - w)`; odds e^eps : 1.

    If `size` w is not given, the best one is used: that with the largest `(a - b)^2 / (w (n - w))`, a and b being the
    probabilities that the truth and that another category is in the set; it is near `n / (e^eps + 1)`. At w = 1 this is
    randomized response; for many categories and a small epsilon larger sets are far better.

    >>> SubsetSelection(odds=3).mechanism((12,)).size
    3
    """

    name = "subset_selection"
    citation = "M. Ye & A. Barg (2018), IEEE Trans. Information Theory 64; S. Wang et al. (2016), arXiv"
    identified = "odds must not be 1, nor epsilon 0"

    odds: Fraction
    size: int | None

    def __init__(self, epsilon: Number | None = None, *, odds: OddsLike | None = None, size: int | None = None) -> None:
        """Read the odds, or convert epsilon to odds, rounded down."""
        given = None if size is None else whole_number("size", size)
        set_fields(self, odds=odds_asked(epsilon=epsilon, odds=odds), size=given)

    def mechanism(self, sizes: Sizes) -> Subset:
        """A coin for the truth, and one for each member of the set."""
        cells = check_domain(sizes)
        if cells < 2:
            raise SottovoceError("sizes", "must leave at least two answers", sizes)
        return Subset.with_odds(sizes, self.size or best_size(cells, self.odds), self.odds)

    @classmethod
    def cases(cls) -> Iterator[tuple["SubsetSelection", Sizes]]:
        """The best size, given sizes, joint records, uninformative."""
        yield cls(odds=3), (8,)
        yield cls(epsilon=1), (5,)
        yield cls(epsilon=0.5, size=2), (4,)
        yield cls(odds=4, size=1), (3,)
        yield cls(odds=2), (2, 3)
        yield cls(odds=1), (3,)

    @classmethod
    def refused(cls) -> Iterator[tuple[str, dict[str, Any]]]:
        """Invalid sizes, and invalid odds."""
        yield "size", {"odds": 3, "size": 0}
        yield "size", {"odds": 3, "size": 1.5}
        yield "odds", {"odds": 0}
        yield "epsilon", {"epsilon": float("nan")}
        yield "epsilon or odds", {"size": 2}


def best_size(cells: int, odds: Fraction) -> int:
    """Size w of the sets with the most information in a report, `(a - b)^2 / (w (n - w))`."""

    def information(size: int) -> Fraction:
        channel = Channel((cells,), size, size * odds / (size * odds + cells - size))
        return (channel.inside - channel.outside) ** 2 / (size * (cells - size))

    near = int(cells / (odds + 1))
    return max((w for w in (near, near + 1) if 1 <= w < cells), key=information)
